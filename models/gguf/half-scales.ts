/** The half-precision scales that blocks carry. */
import { decodeF16 } from '../../src/tensor/half.ts'

/**
 * The f16 at byte `at` of every block, widened.
 *   returns  length = blocks
 */
export function halves(bytes: DataView, block: { readonly stride: number; readonly at: number }): Float32Array {
  const bits = new Uint16Array(bytes.byteLength / block.stride)
  for (let i = 0; i < bits.length; i++) bits[i] = bytes.getUint16(i * block.stride + block.at, true)
  return decodeF16(bits)
}
