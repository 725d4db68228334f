/**
 * GGUF files (version 3), written tensor by tensor: header with typed metadata, tensor table, then the tensors' bytes.
 * Knows the container and nothing about models.
 * Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { AppError } from '../../src/errors.ts'
import { elementCount, noRoomFor } from '../safetensors.ts'

/** A GGUF value with its type: 5 and 5.0 are different things in the format. */
export type GgufValue =
  | { readonly kind: 'u32'; readonly value: number }
  | { readonly kind: 'f32'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'texts'; readonly value: readonly string[] }

/** ggml_type */
const TENSOR_TYPE = { F32: 0, F16: 1 } as const
const ELEMENT_BYTES = { F32: 4, F16: 2 } as const
/** gguf_metadata_value_type */
const VALUE_TYPE = { u32: 4, f32: 6, bool: 7, text: 8, texts: 9 } as const

const MAGIC = 0x46554747
const VERSION = 3
const ALIGNMENT = 32

export interface GgufTensor {
  readonly name: string
  readonly dtype: 'F32' | 'F16'
  /** Row-major, outermost first, as safetensors has it; the file holds the reverse. */
  readonly shape: readonly number[]
  /** Its bytes, little-endian: asked for when it is written, so that one tensor is in memory at a time. */
  readonly read: () => Uint8Array
}

/**
 * @throws disk-full, invariant (a tensor's bytes and shape disagree)
 */
export function writeGguf(
  path: string,
  content: {
    readonly metadata: ReadonlyMap<string, GgufValue>
    readonly tensors: readonly GgufTensor[]
  },
): void {
  const { metadata, tensors } = content
  const header: Uint8Array[] = [u32(MAGIC), u32(VERSION), u64(tensors.length), u64(metadata.size)]
  for (const [key, value] of metadata) header.push(text(key), u32(VALUE_TYPE[value.kind]), encode(value))
  let offset = 0
  for (const { name, dtype, shape } of tensors) {
    header.push(text(name), u32(shape.length), ...[...shape].reverse().map(u64), u32(TENSOR_TYPE[dtype]), u64(offset))
    offset = aligned(offset + sizeOf({ dtype, shape }))
  }
  const file = openSync(path, 'w')
  let written = 0
  const put = (bytes: Uint8Array): void => {
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
    } catch (cause) {
      throw noRoomFor(path, cause)
    }
    written += bytes.length
  }
  const pad = (): void => put(new Uint8Array(aligned(written) - written))
  try {
    put(Buffer.concat(header))
    pad()
    for (const tensor of tensors) {
      const bytes = tensor.read()
      if (bytes.length !== sizeOf(tensor))
        throw new AppError(
          'invariant',
          `tensor ${tensor.name}: ${bytes.length} bytes, its shape needs ${sizeOf(tensor)}`,
        )
      put(bytes)
      pad()
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function sizeOf(tensor: Pick<GgufTensor, 'dtype' | 'shape'>): number {
  return elementCount(tensor.shape) * ELEMENT_BYTES[tensor.dtype]
}

function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT
}

function encode(value: GgufValue): Uint8Array {
  switch (value.kind) {
    case 'u32':
      return u32(value.value)
    case 'f32': {
      const bytes = Buffer.alloc(4)
      bytes.writeFloatLE(value.value)
      return bytes
    }
    case 'bool':
      return Uint8Array.of(value.value ? 1 : 0)
    case 'text':
      return text(value.value)
    case 'texts':
      return Buffer.concat([u32(VALUE_TYPE.text), u64(value.value.length), ...value.value.map(text)])
    default:
      return value satisfies never
  }
}

function text(value: string): Uint8Array {
  const bytes = Buffer.from(value, 'utf8')
  return Buffer.concat([u64(bytes.length), bytes])
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
