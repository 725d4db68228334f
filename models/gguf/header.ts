/**
 * Header of a GGUF file: metadata and tensor directory. The bytes are parsed by @huggingface/gguf; this file gives it only
 * bytes that are there, and checks what it returns against the file before anything relies on it. Hostile input ends in a
 * named error: the header is at most 24 MB (the largest real one, with 262k tokens, has about 8 MB), and no allocation
 * follows a number of the file.
 */
import { gguf } from '@huggingface/gguf'
import { AppError, toAppError } from '../../src/errors.ts'
import { BLOCK_TYPES, type BlockType, OTHER_TYPE_NAMES } from './blocks.ts'
import type { GgufSource } from './source.ts'

export type GgufValue = string | number | bigint | boolean | readonly GgufValue[]

export interface GgufTensor {
  readonly source: GgufSource
  readonly type: BlockType
  /** Row-major, as in safetensors: the file's order is the other way round. */
  readonly shape: readonly number[]
  /** Absolute position of the first byte in the file. */
  readonly offset: number
  readonly sizeBytes: number
}

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: ReadonlyMap<string, GgufTensor>
}

type Parsed = Awaited<ReturnType<typeof gguf>>

const MAX_HEADER_BYTES = 24_000_000
const MAX_ALIGNMENT = 1 << 16
const MAGIC = 0x46554747
const AGAIN = 'download or copy the file again'

/** @throws gguf-invalid, gguf-unsupported */
export async function readGgufHeader(source: GgufSource): Promise<GgufHeader> {
  checkStart(source)
  const parsed = await parse(source)
  // A Map: a key of the file may be called __proto__.
  const metadata = new Map(Object.entries(parsed.metadata) as readonly [string, GgufValue][])
  const headerEnd = parsed.tensorInfoByteRange[1]
  if (headerEnd > source.sizeBytes)
    throw invalid(source, `its header ends at byte ${headerEnd} but the file at ${source.sizeBytes}: ${AGAIN}`)
  const alignment = readAlignment(source, metadata)
  const dataStart = Math.ceil(headerEnd / alignment) * alignment
  const tensors = new Map<string, GgufTensor>()
  for (const info of parsed.tensorInfos) {
    if (tensors.has(info.name)) throw invalid(source, `tensor ${quote(info.name)} stands twice: ${AGAIN}`)
    tensors.set(info.name, checkTensor(info, { source, dataStart, alignment }))
  }
  refuseOverlaps(source, tensors)
  return { metadata, tensors }
}

function checkStart(source: GgufSource): void {
  if (source.sizeBytes < 24)
    throw invalid(source, `${source.sizeBytes} bytes are no GGUF file, its fixed part alone has 24: ${AGAIN}`)
  const start = source.read(0, 8)
  const view = new DataView(start.buffer, start.byteOffset, start.length)
  if (view.getUint32(0, true) !== MAGIC)
    throw invalid(source, 'it does not begin with the letters GGUF: give a GGUF file of llama.cpp')
  const version = view.getUint32(4, true)
  if ((version & 0xffff) === 0 && version !== 0)
    throw new AppError('gguf-unsupported', `${source.name} is big-endian: only little-endian GGUF files are read`)
  if (version !== 2 && version !== 3)
    throw new AppError('gguf-unsupported', `${source.name} has GGUF version ${version}; 2 and 3 are read`)
}

/** The library's HTTP reader, served from the file: it asks for ranges, and none beyond the file's end is answered. */
async function parse(source: GgufSource): Promise<Parsed> {
  const serve: typeof fetch = async (_address, init) => {
    const range = new Headers(init?.headers).get('range')?.match(/^bytes=(\d+)-(\d+)$/)
    const first = Number(range?.[1])
    const end = Math.min(Number(range?.[2]) + 1, source.sizeBytes)
    if (!(first < end))
      throw invalid(source, `its header goes on after the file's end at ${source.sizeBytes}: ${AGAIN}`)
    if (first >= MAX_HEADER_BYTES)
      throw invalid(source, `its header is longer than the limit of ${MAX_HEADER_BYTES} bytes`)
    return new Response(new Uint8Array(source.read(first, end - first)))
  }
  try {
    return await gguf('http://local.invalid/file.gguf', { fetch: serve })
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown
    throw invalid(source, `${toAppError(thrown).message.replace(/^unexpected failure: /, '')}: ${AGAIN}`, thrown)
  }
}

function readAlignment(source: GgufSource, metadata: ReadonlyMap<string, GgufValue>): number {
  const alignment = Number(metadata.get('general.alignment') ?? 32)
  if (Number.isInteger(alignment) && alignment >= 8 && alignment <= MAX_ALIGNMENT && Math.log2(alignment) % 1 === 0)
    return alignment
  throw invalid(source, `general.alignment is ${alignment}; a power of two from 8 to ${MAX_ALIGNMENT} is needed`)
}

function checkTensor(
  info: Parsed['tensorInfos'][number],
  at: { readonly source: GgufSource; readonly dataStart: number; readonly alignment: number },
): GgufTensor {
  const { source, dataStart, alignment } = at
  const where = `tensor ${quote(info.name)}`
  const number = Number(info.dtype)
  const type = BLOCK_TYPES.get(number)
  if (type === undefined)
    throw new AppError(
      'gguf-unsupported',
      `${source.name}: ${where} is stored as ${OTHER_TYPE_NAMES[number] ?? `type ${number}`}; read are ${[...BLOCK_TYPES.values()].map(({ name }) => name).join(', ')}: take a file of one of those`,
    )
  const [rowSize = 0n, ...outer] = info.shape
  const elements = info.shape.reduce((product, size) => product * size, 1n)
  if (info.shape.length === 0 || elements < 1n || rowSize % BigInt(type.size) !== 0n)
    throw invalid(
      source,
      `${where} has dimensions [${info.shape.join(', ')}]; the first is to be a positive multiple of ${type.size} (${type.name}): ${AGAIN}`,
    )
  // In bigint: hostile dimensions overflow a double's 53 bits.
  const sizeBytes = (elements / BigInt(type.size)) * BigInt(type.sizeBytes)
  if (info.offset % BigInt(alignment) !== 0n)
    throw invalid(source, `${where} starts at ${info.offset}, no multiple of the alignment ${alignment}: ${AGAIN}`)
  const end = BigInt(dataStart) + info.offset + sizeBytes
  if (end > BigInt(source.sizeBytes))
    throw invalid(source, `${where} ends at byte ${end} but the file at ${source.sizeBytes}: it is cut off; ${AGAIN}`)
  return {
    source,
    type,
    shape: [...outer.reverse(), rowSize].map(Number),
    offset: dataStart + Number(info.offset),
    sizeBytes: Number(sizeBytes),
  }
}

function refuseOverlaps(source: GgufSource, tensors: ReadonlyMap<string, GgufTensor>): void {
  let end = 0
  let before = ''
  for (const [name, tensor] of [...tensors].sort(([, a], [, b]) => a.offset - b.offset)) {
    if (tensor.offset < end)
      throw invalid(source, `tensor ${quote(name)} starts at byte ${tensor.offset}, inside ${quote(before)}: ${AGAIN}`)
    end = tensor.offset + tensor.sizeBytes
    before = name
  }
}

function invalid(source: GgufSource, what: string, cause?: unknown): AppError {
  return new AppError('gguf-invalid', `${source.name}: ${what}`, { cause })
}

/** A name of the file in a message: short and on one line. */
function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)
}
