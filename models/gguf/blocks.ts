/**
 * The tensor encodings of GGUF that we read, decoded to f32. A row is a sequence of blocks; a block holds `size` weights.
 * Layouts and order of operations: ggml's reference decoders (`dequantize_row_*`), every intermediate rounded to f32 and
 * no fused multiply-add. Numbers are ggml's type numbers.
 */
import { decodeBf16, decodeF16 } from '../../src/tensor/half.ts'
import { halves } from './half-scales.ts'
import { decodeQ4K, decodeQ5K, decodeQ6K } from './super-blocks.ts'

export interface BlockType {
  readonly name: string
  /** Weights of one block. */
  readonly size: number
  readonly sizeBytes: number
  /**
   *   bytes   count * sizeBytes
   *   out     count * size
   */
  readonly decode: (bytes: DataView, out: Float32Array) => void
}

export const BLOCK_TYPES: ReadonlyMap<number, BlockType> = new Map([
  [0, { name: 'F32', size: 1, sizeBytes: 4, decode: decodeF32 }],
  [1, { name: 'F16', size: 1, sizeBytes: 2, decode: (bytes, out) => out.set(decodeF16(words(bytes))) }],
  [2, { name: 'Q4_0', size: 32, sizeBytes: 18, decode: decodeQ40 }],
  [3, { name: 'Q4_1', size: 32, sizeBytes: 20, decode: decodeQ41 }],
  [6, { name: 'Q5_0', size: 32, sizeBytes: 22, decode: decodeQ50 }],
  [7, { name: 'Q5_1', size: 32, sizeBytes: 24, decode: decodeQ51 }],
  [8, { name: 'Q8_0', size: 32, sizeBytes: 34, decode: decodeQ80 }],
  [12, { name: 'Q4_K', size: 256, sizeBytes: 144, decode: decodeQ4K }],
  [13, { name: 'Q5_K', size: 256, sizeBytes: 176, decode: decodeQ5K }],
  [14, { name: 'Q6_K', size: 256, sizeBytes: 210, decode: decodeQ6K }],
  [30, { name: 'BF16', size: 1, sizeBytes: 2, decode: (bytes, out) => out.set(decodeBf16(words(bytes))) }],
])

/** Names of the types that are not read, for messages. */
export const OTHER_TYPE_NAMES: Readonly<Record<number, string>> = {
  9: 'Q8_1',
  10: 'Q2_K',
  11: 'Q3_K',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  28: 'F64',
  29: 'IQ1_M',
  34: 'TQ1_0',
  35: 'TQ2_0',
  39: 'MXFP4',
}

function decodeF32(bytes: DataView, out: Float32Array): void {
  for (let i = 0; i < out.length; i++) out[i] = bytes.getFloat32(4 * i, true)
}

/** f16 scale, 16 bytes: low nibbles are weights 0-15, high nibbles 16-31; w = (q - 8) * scale. */
function decodeQ40(bytes: DataView, out: Float32Array): void {
  const scales = halves(bytes, { stride: 18, at: 0 })
  for (const [block, scale] of scales.entries())
    for (let i = 0; i < 16; i++) {
      const packed = bytes.getUint8(18 * block + 2 + i)
      out[32 * block + i] = ((packed & 15) - 8) * scale
      out[32 * block + i + 16] = ((packed >> 4) - 8) * scale
    }
}

/** f16 scale, f16 minimum, nibbles as Q4_0; w = q * scale + minimum. */
function decodeQ41(bytes: DataView, out: Float32Array): void {
  const scales = halves(bytes, { stride: 20, at: 0 })
  const minima = halves(bytes, { stride: 20, at: 2 })
  for (const [block, scale] of scales.entries()) {
    const minimum = minima[block] ?? 0
    for (let i = 0; i < 16; i++) {
      const packed = bytes.getUint8(20 * block + 4 + i)
      out[32 * block + i] = Math.fround((packed & 15) * scale) + minimum
      out[32 * block + i + 16] = Math.fround((packed >> 4) * scale) + minimum
    }
  }
}

/** f16 scale, u32 of fifth bits (bit i of weight i), nibbles; w = (q - 16) * scale. */
function decodeQ50(bytes: DataView, out: Float32Array): void {
  const scales = halves(bytes, { stride: 22, at: 0 })
  for (const [block, scale] of scales.entries()) {
    const fifth = bytes.getUint32(22 * block + 2, true)
    for (let i = 0; i < 16; i++) {
      const packed = bytes.getUint8(22 * block + 6 + i)
      out[32 * block + i] = (((packed & 15) | (((fifth >>> i) & 1) << 4)) - 16) * scale
      out[32 * block + i + 16] = (((packed >> 4) | (((fifth >>> (i + 16)) & 1) << 4)) - 16) * scale
    }
  }
}

/** f16 scale, f16 minimum, fifth bits and nibbles as Q5_0; w = q * scale + minimum. */
function decodeQ51(bytes: DataView, out: Float32Array): void {
  const scales = halves(bytes, { stride: 24, at: 0 })
  const minima = halves(bytes, { stride: 24, at: 2 })
  for (const [block, scale] of scales.entries()) {
    const minimum = minima[block] ?? 0
    const fifth = bytes.getUint32(24 * block + 4, true)
    for (let i = 0; i < 16; i++) {
      const packed = bytes.getUint8(24 * block + 8 + i)
      const low = (packed & 15) | (((fifth >>> i) & 1) << 4)
      const high = (packed >> 4) | (((fifth >>> (i + 16)) & 1) << 4)
      out[32 * block + i] = Math.fround(low * scale) + minimum
      out[32 * block + i + 16] = Math.fround(high * scale) + minimum
    }
  }
}

/** f16 scale, 32 signed bytes; w = q * scale. */
function decodeQ80(bytes: DataView, out: Float32Array): void {
  const scales = halves(bytes, { stride: 34, at: 0 })
  for (const [block, scale] of scales.entries())
    for (let i = 0; i < 32; i++) out[32 * block + i] = bytes.getInt8(34 * block + 2 + i) * scale
}

function words(bytes: DataView): Uint16Array {
  const out = new Uint16Array(bytes.byteLength / 2)
  for (let i = 0; i < out.length; i++) out[i] = bytes.getUint16(2 * i, true)
  return out
}
