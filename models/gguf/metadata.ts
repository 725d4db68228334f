/** Typed reading of GGUF metadata: what is missing, of another type or out of range is a named error. */
import { AppError } from '../../src/errors.ts'
import type { GgufValue } from './header.ts'

export interface MetadataReader {
  /** Name of the file, for messages. */
  readonly file: string
  text(key: string): string | null
  /** A whole number, 0 <= value <= 2^32. */
  whole(key: string): number | null
  /** A finite number; an f32 is given as the shortest decimal that means it. */
  number(key: string): number | null
  flag(key: string): boolean | null
  texts(key: string): readonly string[] | null
  wholes(key: string): readonly number[] | null
  refuse(message: string): AppError
}

/** Every reader method throws gguf-invalid where the key holds something else. */
export function readMetadata(file: string, metadata: ReadonlyMap<string, GgufValue>): MetadataReader {
  const refuse = (message: string): AppError => new AppError('gguf-invalid', `${file}: ${message}`)
  function get<T>(key: string, wanted: string, read: (value: GgufValue) => T | undefined): T | null {
    const value = metadata.get(key)
    if (value === undefined) return null
    const found = read(value)
    if (found === undefined) throw refuse(`metadata ${key} is no ${wanted}: the file is damaged`)
    return found
  }
  return {
    file,
    refuse,
    text: (key) => get(key, 'text', (value) => (typeof value === 'string' ? value : undefined)),
    whole: (key) => get(key, 'whole number', wholeOf),
    number: (key) =>
      get(key, 'finite number', (value) =>
        typeof value === 'number' && Number.isFinite(value) ? shortestDecimal(value) : wholeOf(value),
      ),
    flag: (key) => get(key, 'flag', (value) => (typeof value === 'boolean' ? value : undefined)),
    texts: (key) => get(key, 'list of texts', (value) => listOf(value, (v) => (typeof v === 'string' ? v : undefined))),
    wholes: (key) => get(key, 'list of whole numbers', (value) => listOf(value, wholeOf)),
  }
}

/** The value, or gguf-invalid naming the key. */
export function required<T>(reader: MetadataReader, key: string, value: T | null): T {
  if (value === null) throw reader.refuse(`metadata ${key} is missing: the file is no language model or is damaged`)
  return value
}

function wholeOf(value: GgufValue): number | undefined {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN
  return Number.isInteger(number) && number >= 0 && number <= 2 ** 32 ? number : undefined
}

function listOf<T>(value: GgufValue, read: (value: GgufValue) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const out: T[] = []
  for (const item of value as readonly GgufValue[]) {
    const found = read(item)
    if (found === undefined) return undefined
    out.push(found)
  }
  return out
}

/** GGUF stores 1e-5 as the f32 0.00000999999974737875; a config.json says 1e-5, which is the same f32. */
function shortestDecimal(value: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}
