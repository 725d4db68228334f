/**
 * The K encodings: super-blocks of 256 weights whose sub-blocks of 32 (Q4_K, Q5_K) or 16 (Q6_K) have scales of their own,
 * themselves quantised. Order of operations as in ggml's reference decoders, every intermediate rounded to f32.
 */
import { halves } from './half-scales.ts'

const { fround } = Math

/**
 * f16 d, f16 dmin, 12 bytes of eight 6-bit scales and eight 6-bit minima, 128 bytes: of each 32 bytes the low nibbles are
 * one sub-block, the high nibbles the next; w = q * (d * scale) - dmin * minimum.
 */
export function decodeQ4K(bytes: DataView, out: Float32Array): void {
  const d = halves(bytes, { stride: 144, at: 0 })
  const dmin = halves(bytes, { stride: 144, at: 2 })
  for (let block = 0; block < d.length; block++) {
    const start = 144 * block
    for (let sub = 0; sub < 8; sub++) {
      const { scale, minimum } = subScales(bytes, start + 4, sub)
      const step = fround((d[block] ?? 0) * scale)
      const offset = fround((dmin[block] ?? 0) * minimum)
      const from = start + 16 + 32 * (sub >> 1)
      const shift = 4 * (sub & 1)
      for (let i = 0; i < 32; i++) {
        const q = (bytes.getUint8(from + i) >> shift) & 15
        out[256 * block + 32 * sub + i] = fround(step * q) - offset
      }
    }
  }
}

/** As Q4_K with 32 bytes of fifth bits before the nibbles: bit `sub` of byte i belongs to weight i of that sub-block. */
export function decodeQ5K(bytes: DataView, out: Float32Array): void {
  const d = halves(bytes, { stride: 176, at: 0 })
  const dmin = halves(bytes, { stride: 176, at: 2 })
  for (let block = 0; block < d.length; block++) {
    const start = 176 * block
    for (let sub = 0; sub < 8; sub++) {
      const { scale, minimum } = subScales(bytes, start + 4, sub)
      const step = fround((d[block] ?? 0) * scale)
      const offset = fround((dmin[block] ?? 0) * minimum)
      const from = start + 48 + 32 * (sub >> 1)
      const shift = 4 * (sub & 1)
      for (let i = 0; i < 32; i++) {
        const fifth = (bytes.getUint8(start + 16 + i) >> sub) & 1
        const q = ((bytes.getUint8(from + i) >> shift) & 15) | (fifth << 4)
        out[256 * block + 32 * sub + i] = fround(step * q) - offset
      }
    }
  }
}

/**
 * 128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed scales, f16 d; w = (d * scale) * (q - 32). Of each half
 * (128 weights, 64 + 32 bytes) quarter k has its nibbles in bytes 32 * (k & 1), low for k < 2, and its pairs at bit 2k.
 */
export function decodeQ6K(bytes: DataView, out: Float32Array): void {
  const d = halves(bytes, { stride: 210, at: 208 })
  for (let block = 0; block < d.length; block++) {
    const start = 210 * block
    for (let half = 0; half < 2; half++)
      for (let quarter = 0; quarter < 4; quarter++)
        for (let i = 0; i < 32; i++) {
          const nibbles = bytes.getUint8(start + 64 * half + 32 * (quarter & 1) + i)
          const low = (nibbles >> (4 * (quarter >> 1))) & 15
          const pair = (bytes.getUint8(start + 128 + 32 * half + i) >> (2 * quarter)) & 3
          const scale = bytes.getInt8(start + 192 + 8 * half + 2 * quarter + (i >> 4))
          const q = (low | (pair << 4)) - 32
          out[256 * block + 128 * half + 32 * quarter + i] = fround((d[block] ?? 0) * scale) * q
        }
  }
}

/** Sub-blocks 0-3 have their six bits in bytes 0-3 and 4-7; 4-7 a nibble in bytes 8-11 and two bits above the former. */
function subScales(bytes: DataView, at: number, sub: number): { readonly scale: number; readonly minimum: number } {
  if (sub < 4) return { scale: bytes.getUint8(at + sub) & 63, minimum: bytes.getUint8(at + sub + 4) & 63 }
  const nibbles = bytes.getUint8(at + sub + 4)
  return {
    scale: (nibbles & 15) | ((bytes.getUint8(at + sub - 4) >> 6) << 4),
    minimum: (nibbles >> 4) | ((bytes.getUint8(at + sub) >> 6) << 4),
  }
}
