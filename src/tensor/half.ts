/**
 * 16-bit floats as bits: IEEE binary16 (f16) and bfloat16 (bf16). Pure.
 * Node 20 has no Float16Array; hidden states are stored as f16 and checkpoints come in both.
 */
import { AppError } from '../errors.ts'

/** Largest finite f16; anything of magnitude 65,520 or more rounds to infinity. */
export const F16_MAX = 65504

/** @returns the 16 bits of the nearest f16, ties to even; overflow gives infinity, NaN stays NaN */
export function f32ToF16Bits(x: number): number {
  return halfBits(new Uint32Array(Float32Array.of(x).buffer)[0]!)
}

export function f16BitsToF32(bits: number): number {
  return decodeF16(Uint16Array.of(bits))[0]!
}

/**
 * f32 -> f16, nearest, ties to even.
 *   returns  same length; decodeF16 gives the rounded values back exactly
 * @throws output-not-finite if a value is not finite or its magnitude rounds past 65,504
 */
export function encodeF16(src: Float32Array): Uint16Array {
  const bits = new Uint32Array(src.buffer, src.byteOffset, src.length)
  const out = new Uint16Array(src.length)
  for (let i = 0; i < bits.length; i++) {
    const half = halfBits(bits[i]!)
    if ((half & 0x7c00) === 0x7c00) throw notRepresentable(src, i, 'f16', F16_MAX)
    out[i] = half
  }
  return out
}

/** f16 -> f32, exact. */
export function decodeF16(src: Uint16Array): Float32Array {
  const out = new Float32Array(src.length)
  const bits = new Uint32Array(out.buffer)
  for (let i = 0; i < src.length; i++) {
    const half = src[i]!
    const sign = (half & 0x8000) << 16
    const exponent = half & 0x7c00
    const mantissa = half & 0x3ff
    if (exponent === 0) {
      // Zero and subnormals: mantissa * 2^-24 is exact in f32.
      out[i] = (sign === 0 ? mantissa : -mantissa) * 2 ** -24
      if (mantissa === 0) bits[i] = sign
    } else if (exponent === 0x7c00) bits[i] = sign | 0x7f800000 | (mantissa << 13)
    else bits[i] = sign | ((exponent << 13) + 0x38000000) | (mantissa << 13)
  }
  return out
}

/**
 * f32 -> bf16, nearest, ties to even.
 * @throws output-not-finite if a value is not finite or rounds to infinity
 */
export function encodeBf16(src: Float32Array): Uint16Array {
  const bits = new Uint32Array(src.buffer, src.byteOffset, src.length)
  const out = new Uint16Array(src.length)
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!
    const rounded = ((word + 0x7fff + ((word >>> 16) & 1)) >>> 16) & 0xffff
    if ((word & 0x7f800000) === 0x7f800000 || (rounded & 0x7f80) === 0x7f80)
      throw notRepresentable(src, i, 'bf16', 3.3895e38)
    out[i] = rounded
  }
  return out
}

/** bf16 -> f32, exact. */
export function decodeBf16(src: Uint16Array): Float32Array {
  const bits = new Uint32Array(src.length)
  for (let i = 0; i < src.length; i++) bits[i] = src[i]! << 16
  return new Float32Array(bits.buffer)
}

/** Bits of an f32 -> bits of the nearest f16. Thresholds are the f32 bit patterns of 65,520, 2^-14 and 2^-25. */
function halfBits(word: number): number {
  const sign = (word >>> 16) & 0x8000
  const magnitude = word & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  if (magnitude >= 0x477ff000) return sign | 0x7c00
  if (magnitude >= 0x38800000) {
    return sign | ((magnitude + 0xfff + ((magnitude >>> 13) & 1) - 0x38000000) >>> 13)
  }
  if (magnitude <= 0x33000000) return sign
  const shift = 126 - (magnitude >>> 23)
  const mantissa = (magnitude & 0x7fffff) | 0x800000
  const floor = mantissa >>> shift
  const rest = mantissa & ((1 << shift) - 1)
  const tie = 1 << (shift - 1)
  return sign | (rest > tie || (rest === tie && (floor & 1) === 1) ? floor + 1 : floor)
}

function notRepresentable(src: Float32Array, index: number, dtype: string, limit: number): AppError {
  return new AppError(
    'output-not-finite',
    `value ${src[index]} at index ${index} does not fit ${dtype} (largest magnitude ${limit}): store hidden states as f32`,
    { details: { index, dtype, limit } },
  )
}
