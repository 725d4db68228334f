/**
 * Dropout masks from our own generator, so that every backend sees the same ones. Pure.
 */
import type { Rng } from '../src/rng.ts'

/**
 * Inverted dropout: 0 with probability `dropout`, else 1 / (1 - dropout). Two values come from each 32-bit draw, so the
 * probability is exact to 1 / 65,536.
 *   returns  (size) f32
 */
export function dropoutMask(size: number, dropout: number, rng: Rng): Float32Array {
  const threshold = Math.round(dropout * 65536)
  const kept = 1 / (1 - dropout)
  const mask = new Float32Array(size)
  for (let i = 0; i < size; i += 2) {
    const bits = rng.nextUint32()
    mask[i] = bits >>> 16 < threshold ? 0 : kept
    if (i + 1 < size) mask[i + 1] = (bits & 0xffff) < threshold ? 0 : kept
  }
  return mask
}
