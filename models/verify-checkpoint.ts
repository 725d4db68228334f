/**
 * Everything about a checkpoint that can be checked without running it: config against tensors, tokenizer against
 * vocabulary, every weight a number, and the checksums that a hub cache knows its files by. Reads each byte once or twice.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError, type ErrorCode } from '../src/errors.ts'
import { openCheckpoint, weightFileNames } from './frozen-lm/checkpoint.ts'
import { modelRoot, resolveModelFile } from './model-files.ts'
import { readSafetensorsHeader, type SafetensorsDtype, type TensorInfo } from './safetensors.ts'
import { loadTokenizer } from './tokenizer/hf-tokenizer.ts'

export interface Finding {
  readonly code: ErrorCode
  readonly message: string
}

export interface VerifiedCheckpoint {
  readonly directory: string
  readonly architecture: string | null
  readonly files: number
  readonly tensors: number
  readonly bytes: number
  /** Files whose checksum the cache knows and that have it. */
  readonly hashedFiles: number
  readonly findings: readonly Finding[]
}

const CHUNK_BYTES = 1 << 22

/** What `verifyCheckpoint` may be told. */
export interface VerifyOptions {
  readonly signal: AbortSignal
  readonly onBytes: (done: number) => void
}

/** @throws model-not-found, and the signal's reason; what is wrong with the files is a finding */
export function verifyCheckpoint(directory: string, options: VerifyOptions): VerifiedCheckpoint {
  const findings: Finding[] = []
  const note = <T>(check: () => T): T | null => {
    try {
      return check()
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.family !== 'artifact') throw thrown
      findings.push({ code: thrown.code, message: thrown.message })
      return null
    }
  }
  const checkpoint = note(() => openCheckpoint(directory))
  const tokenizer = note(() => loadTokenizer(directory))
  const vocabularySize = checkpoint?.config.vocabularySize
  if (tokenizer !== null && vocabularySize !== undefined && tokenizer.vocabularySize > vocabularySize)
    findings.push({
      code: 'tensor-mismatch',
      message: `${directory}: tokenizer.json has ids up to ${tokenizer.vocabularySize - 1}, the embedding ${vocabularySize} rows: they do not belong together`,
    })
  let tensors = 0
  let bytes = 0
  const files = note(() => weightFileNames(directory)) ?? []
  for (const name of files)
    note(() => {
      const file = resolveModelFile(directory, name)
      if (file === null)
        throw new AppError('safetensors-missing', `${join(directory, name)} does not exist: download the missing shard`)
      for (const [tensor, info] of readSafetensorsHeader(file).tensors) {
        options.signal.throwIfAborted()
        const bad = firstNonFiniteOf(file, info)
        if (bad !== null) findings.push({ code: 'weights-not-finite', message: describe({ file, tensor, info, bad }) })
        tensors += 1
        bytes += info.sizeBytes
        options.onBytes(bytes)
      }
    })
  const hashed = readdirSync(directory).map((name) => note(() => checkHash(directory, name, options.signal)))
  return {
    directory,
    architecture: checkpoint?.config.architecture ?? null,
    files: files.length,
    tensors,
    bytes,
    hashedFiles: hashed.filter((known) => known === true).length,
    findings,
  }
}

/** The float types whose exponent, all ones, means NaN or infinity. */
const EXPONENTS: Partial<Record<SafetensorsDtype, { readonly bytes: 2 | 4; readonly mask: number }>> = {
  F32: { bytes: 4, mask: 0x7f800000 },
  F16: { bytes: 2, mask: 0x7c00 },
  BF16: { bytes: 2, mask: 0x7f80 },
}

/** @returns index of the element; null where all are finite, or the type is none of those that are read */
function firstNonFiniteOf(file: string, info: TensorInfo): number | null {
  const float = EXPONENTS[info.dtype]
  if (float === undefined) return null
  const { bytes: width, mask } = float
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, info.sizeBytes))
  const descriptor = openSync(file, 'r')
  try {
    for (let done = 0; done < info.sizeBytes; ) {
      const got = readChunk(descriptor, chunk, { position: info.offset + done, length: info.sizeBytes - done })
      const count = got / width
      const bits = width === 4 ? new Uint32Array(chunk.buffer, 0, count) : new Uint16Array(chunk.buffer, 0, count)
      for (let i = 0; i < count; i++) if (((bits[i] ?? 0) & mask) === mask) return done / width + i
      done += got
    }
    return null
  } finally {
    closeSync(descriptor)
  }
}

/** Fills the chunk or reads `length` bytes, whatever is less; a header was checked against the size before. */
function readChunk(
  descriptor: number,
  chunk: Uint8Array,
  at: { readonly position: number; readonly length: number },
): number {
  const wanted = Math.min(chunk.length, at.length)
  for (let done = 0; done < wanted; ) {
    const got = readSync(descriptor, chunk, done, wanted - done, at.position + done)
    if (got === 0) throw new AppError('safetensors-truncated', 'the file became shorter while it was read: run again')
    done += got
  }
  return wanted
}

function describe(of: {
  readonly file: string
  readonly tensor: string
  readonly info: TensorInfo
  readonly bad: number
}): string {
  const { file, tensor, info, bad } = of
  const layer = tensor.match(/(?:^|\.)layers\.(\d+)\./)?.[1]
  const rowSize = info.shape.length < 2 ? 1 : info.shape.slice(1).reduce((product, size) => product * size, 1)
  const where = layer === undefined ? '' : ` of layer ${Number(layer) + 1}`
  return `${file}: tensor ${tensor}${where} holds NaN or infinity, first in row ${Math.floor(bad / rowSize)}: get the file again`
}

/**
 * A blob of a hub cache is named by its checksum: SHA-256 for large files, git's SHA-1 for small ones.
 * @returns whether the checksum is known
 */
function checkHash(directory: string, name: string, signal: AbortSignal): boolean {
  const file = resolveModelFile(directory, name)
  if (file === null || basename(dirname(file)) !== 'blobs' || dirname(dirname(file)) !== modelRoot(directory))
    return false
  const wanted = basename(file)
  const isSha256 = /^[0-9a-f]{64}$/.test(wanted)
  if (!isSha256 && !/^[0-9a-f]{40}$/.test(wanted)) return false
  const { size } = statSync(file)
  const hash = isSha256 ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`)
  const chunk = new Uint8Array(CHUNK_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    for (let done = 0; done < size; ) {
      signal.throwIfAborted()
      const got = readChunk(descriptor, chunk, { position: done, length: size - done })
      hash.update(chunk.subarray(0, got))
      done += got
    }
  } finally {
    closeSync(descriptor)
  }
  const found = hash.digest('hex')
  if (found === wanted) return true
  throw new AppError(
    'download-mismatch',
    `${join(directory, name)} is not what was pulled: its checksum is ${found}, the cache knows it as ${wanted}; delete ${file} and pull again`,
  )
}
