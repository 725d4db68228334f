/**
 * safetensors files: u64 little-endian header length, JSON header, then the tensors' bytes without holes.
 * Reads headers and single tensors by position (a checkpoint is never loaded whole); writes f32 and half tensors.
 * Files come from outside and are hostile: every number is checked before anything is allocated.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { AppError } from '../src/errors.ts'
import { decodeBf16, decodeF16 } from '../src/tensor/half.ts'
import { refuseJsonShape } from './header-json.ts'

/** Bytes of one element. The names are the format's own. */
export const SAFETENSORS_DTYPE_BYTES = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
  F8_E8M0: 1,
  C64: 8,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
} as const
export type SafetensorsDtype = keyof typeof SAFETENSORS_DTYPE_BYTES

export interface TensorInfo {
  readonly dtype: SafetensorsDtype
  readonly shape: readonly number[]
  /** Absolute position of the first byte in the file. */
  readonly offset: number
  readonly sizeBytes: number
}

export interface SafetensorsHeader {
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly metadata: Readonly<Record<string, string>>
}

/** What `writeSafetensors` takes: f32 values, or half-precision bits with their dtype. */
export type WritableTensor =
  | { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array }
  | {
      readonly name: string
      readonly shape: readonly number[]
      readonly data: Uint16Array
      readonly dtype: 'F16' | 'BF16'
    }

/**
 * Of what is read before anything is known to be true. A 70 B checkpoint's header is under 1 MB, one file with 90,000
 * expert tensors has about 12 MB; the reference implementation allows 100 MB, which as objects would take gigabytes.
 */
const MAX_HEADER_BYTES = 32_000_000
/** `{tensor: {shape: [...]}}` */
const HEADER_LIMITS = { depth: 3, keys: 500_000 }
const MAX_DIMENSIONS = 8
const LENGTH_BYTES = 8
const DOWNLOAD_AGAIN = 'download or copy the file again'

/**
 * @throws safetensors-missing, safetensors-truncated, safetensors-header-invalid, safetensors-offset-invalid
 */
export function readSafetensorsHeader(path: string): SafetensorsHeader {
  return withFile(path, (file) =>
    parseSafetensors({
      path,
      sizeBytes: fstatSync(file).size,
      read: (position, sizeBytes) => readExactly(file, path, position, sizeBytes),
    }),
  )
}

/** A safetensors file, wherever its bytes are. */
export interface SafetensorsSource {
  /** For messages. */
  readonly path: string
  readonly sizeBytes: number
  readonly read: (position: number, sizeBytes: number) => Buffer
}

/**
 * @throws safetensors-truncated, safetensors-header-invalid, safetensors-offset-invalid
 */
export function parseSafetensors(source: SafetensorsSource): SafetensorsHeader {
  const { path, sizeBytes, read } = source
  if (sizeBytes < LENGTH_BYTES)
    throw new AppError(
      'safetensors-truncated',
      `${path} is ${sizeBytes} bytes long, a safetensors file has at least ${LENGTH_BYTES}: ${DOWNLOAD_AGAIN}`,
    )
  const headerBytes = Number(read(0, LENGTH_BYTES).readBigUInt64LE(0))
  if (headerBytes > sizeBytes - LENGTH_BYTES)
    throw new AppError(
      'safetensors-header-invalid',
      `${path} announces a header of ${headerBytes} bytes but is only ${sizeBytes} bytes long: it is cut off or no safetensors file; ${DOWNLOAD_AGAIN}`,
    )
  if (headerBytes > MAX_HEADER_BYTES)
    throw new AppError(
      'safetensors-header-invalid',
      `${path} announces a header of ${headerBytes} bytes, the limit is ${MAX_HEADER_BYTES}: it is no safetensors file`,
    )
  const text = read(LENGTH_BYTES, headerBytes).toString('utf8')
  const dataStart = LENGTH_BYTES + headerBytes
  const header = parseHeader(text, { path, dataStart })
  checkLayout(header.tensors, { path, dataStart, dataBytes: sizeBytes - dataStart })
  return header
}

/**
 * One tensor, widened to f32 (exact for F16 and BF16).
 *   returns  length = product of the shape
 * @throws safetensors-missing, safetensors-truncated, tensor-mismatch (another dtype)
 */
export function readTensorF32(path: string, info: TensorInfo): Float32Array {
  if (info.dtype !== 'F32' && info.dtype !== 'F16' && info.dtype !== 'BF16')
    throw new AppError('tensor-mismatch', `${path}: a tensor of dtype ${info.dtype}; F32, F16 or BF16 is needed here`)
  const bytes = withFile(path, (file) => readExactly(file, path, info.offset, info.sizeBytes))
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  if (info.dtype === 'F32') return new Float32Array(buffer)
  const bits = new Uint16Array(buffer)
  return info.dtype === 'F16' ? decodeF16(bits) : decodeBf16(bits)
}

/**
 * Writes tensors in the given order and syncs the file; equal input gives equal bytes. Not atomic: write under a
 * temporary name and rename where a half-written file would be read.
 * @throws disk-full, invariant (shape and data disagree, or a name stands twice)
 */
export function writeSafetensors(
  path: string,
  tensors: readonly WritableTensor[],
  metadata: Readonly<Record<string, string>> = {},
): void {
  for (const { name, shape, data } of tensors)
    if (elementCount(shape) !== data.length)
      throw new AppError('invariant', `tensor ${name}: shape ${shape} has not ${data.length} values`)
  const header = encodeSafetensorsHeader(
    tensors.map((tensor) => ({
      name: tensor.name,
      shape: tensor.shape,
      dtype: 'dtype' in tensor ? tensor.dtype : 'F32',
      sizeBytes: tensor.data.byteLength,
    })),
    metadata,
  )
  const file = openSync(path, 'w')
  try {
    for (const bytes of [header, ...tensors.map((tensor) => asBytes(tensor.data))]) writeAll(file, bytes)
    fsyncSync(file)
  } catch (cause) {
    throw noRoomFor(path, cause)
  } finally {
    closeSync(file)
  }
}

/**
 * What stands before the tensors' bytes: length and JSON, padded so that the first tensor is aligned to 8 bytes.
 * @throws invariant if a name stands twice
 */
export function encodeSafetensorsHeader(
  tensors: readonly {
    readonly name: string
    readonly dtype: SafetensorsDtype
    readonly shape: readonly number[]
    readonly sizeBytes: number
  }[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {}
  let end = 0
  for (const { name, dtype, shape, sizeBytes } of tensors) {
    if (Object.hasOwn(header, name)) throw new AppError('invariant', `tensor ${name} stands twice`)
    header[name] = { dtype, shape, data_offsets: [end, end + sizeBytes] }
    end += sizeBytes
  }
  const text = Buffer.from(JSON.stringify(header), 'utf8')
  const bytes = Buffer.alloc(LENGTH_BYTES + Math.ceil(text.length / 8) * 8, 0x20)
  bytes.writeBigUInt64LE(BigInt(bytes.length - LENGTH_BYTES))
  text.copy(bytes, LENGTH_BYTES)
  return bytes
}

/** disk-full where the cause says so, else the cause itself. */
export function noRoomFor(path: string, cause: unknown): unknown {
  const code = codeOf(cause)
  if (code !== 'ENOSPC' && code !== 'EFBIG' && code !== 'EDQUOT') return cause
  return new AppError('disk-full', `no room left while writing ${path}: free some space and run again`, { cause })
}

/** Product of the shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

function parseHeader(text: string, at: { readonly path: string; readonly dataStart: number }): SafetensorsHeader {
  const refused = refuseJsonShape(text, HEADER_LIMITS)
  if (refused !== null)
    throw new AppError('safetensors-header-invalid', `${at.path}: the header ${refused}: ${DOWNLOAD_AGAIN}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw new AppError('safetensors-header-invalid', `${at.path}: the header is not JSON: ${DOWNLOAD_AGAIN}`, { cause })
  }
  if (!isRecord(parsed))
    throw new AppError('safetensors-header-invalid', `${at.path}: the header is not a JSON object: ${DOWNLOAD_AGAIN}`)
  const tensors = new Map<string, TensorInfo>()
  let metadata: Record<string, string> = {}
  for (const [name, entry] of Object.entries(parsed)) {
    if (name === '__metadata__') metadata = parseMetadata(entry, at.path)
    else tensors.set(name, parseTensor(entry, { ...at, name }))
  }
  return { tensors, metadata }
}

function parseMetadata(entry: unknown, path: string): Record<string, string> {
  if (!isRecord(entry) || Object.values(entry).some((value) => typeof value !== 'string'))
    throw new AppError('safetensors-header-invalid', `${path}: __metadata__ is not a map of strings`)
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, String(value)]))
}

function parseTensor(
  entry: unknown,
  at: { readonly path: string; readonly dataStart: number; readonly name: string },
): TensorInfo {
  const where = `${at.path}: tensor ${at.name.slice(0, 200)}`
  if (!isRecord(entry))
    throw new AppError('safetensors-header-invalid', `${where} has no {dtype, shape, data_offsets} record`)
  const { dtype, shape, data_offsets: offsets } = entry
  if (typeof dtype !== 'string' || !isDtype(dtype))
    throw new AppError(
      'safetensors-header-invalid',
      `${where} has dtype ${short(dtype)}; known are ${Object.keys(SAFETENSORS_DTYPE_BYTES).join(', ')}`,
    )
  if (!isSizes(shape) || shape.length > MAX_DIMENSIONS || !Number.isSafeInteger(elementCount(shape)))
    throw new AppError('safetensors-header-invalid', `${where} has shape ${short(shape)}`)
  const [begin, end] = isSizes(offsets) && offsets.length === 2 ? offsets : []
  if (begin === undefined || end === undefined || begin > end)
    throw new AppError(
      'safetensors-offset-invalid',
      `${where} has data_offsets ${short(offsets)}; two integers 0 <= begin <= end are needed: ${DOWNLOAD_AGAIN}`,
    )
  const sizeBytes = elementCount(shape) * SAFETENSORS_DTYPE_BYTES[dtype]
  if (end - begin !== sizeBytes)
    throw new AppError(
      'safetensors-offset-invalid',
      `${where} takes ${end - begin} bytes by its data_offsets but ${sizeBytes} by ${dtype} x [${shape.join(', ')}]: ${DOWNLOAD_AGAIN}`,
    )
  return { dtype, shape, offset: at.dataStart + begin, sizeBytes }
}

/** The format allows neither overlaps nor holes, and the data must end with the file. */
function checkLayout(
  tensors: ReadonlyMap<string, TensorInfo>,
  at: { readonly path: string; readonly dataStart: number; readonly dataBytes: number },
): void {
  const inOrder = [...tensors].sort(([, a], [, b]) => a.offset - b.offset || a.sizeBytes - b.sizeBytes)
  let end = at.dataStart
  for (const [name, info] of inOrder) {
    if (info.offset !== end)
      throw new AppError(
        'safetensors-offset-invalid',
        `${at.path}: tensor ${name} starts at byte ${info.offset - at.dataStart} of the data, the one before it ends at ${end - at.dataStart} (${info.offset < end ? 'overlap' : 'hole'}): ${DOWNLOAD_AGAIN}`,
      )
    end += info.sizeBytes
  }
  const neededBytes = end - at.dataStart
  if (neededBytes > at.dataBytes)
    throw new AppError(
      'safetensors-truncated',
      `${at.path} holds ${at.dataBytes} bytes of tensors, its header needs ${neededBytes}: ${DOWNLOAD_AGAIN}`,
    )
  if (neededBytes < at.dataBytes)
    throw new AppError(
      'safetensors-offset-invalid',
      `${at.path} holds ${at.dataBytes} bytes of tensors, its header names only ${neededBytes}: ${DOWNLOAD_AGAIN}`,
    )
}

function withFile<T>(path: string, use: (file: number) => T): T {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    throw new AppError(
      'safetensors-missing',
      `cannot open ${path} (${codeOf(cause) ?? String(cause)}): check the model directory`,
      { cause },
    )
  }
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

function readExactly(file: number, path: string, position: number, sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(sizeBytes)
  let done = 0
  while (done < sizeBytes) {
    const got = readSync(file, bytes, done, Math.min(sizeBytes - done, 1 << 30), position + done)
    if (got === 0)
      throw new AppError(
        'safetensors-truncated',
        `${path} ends at byte ${position + done}, ${sizeBytes - done} bytes early: ${DOWNLOAD_AGAIN}`,
      )
    done += got
  }
  return bytes
}

function writeAll(file: number, bytes: Uint8Array): void {
  let done = 0
  while (done < bytes.length) done += writeSync(file, bytes, done, Math.min(bytes.length - done, 1 << 30))
}

function asBytes(data: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

/** A value of the file in a message. */
function short(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 200)
}

function isDtype(text: string): text is SafetensorsDtype {
  return Object.hasOwn(SAFETENSORS_DTYPE_BYTES, text)
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function codeOf(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : null
}
