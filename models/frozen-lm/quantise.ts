/**
 * Matrices as 8-bit integers, symmetric, one scale per output: what DynamicQuantizeMatMul multiplies. Activations are
 * quantised by the runtime, 8 bits with one scale per run, so a row depends on the rows it runs with.
 */
import { readTensorF32 } from '../safetensors.ts'
import type { CheckpointTensor } from './checkpoint.ts'
import type { Int8Matrix } from './graph-variant.ts'

const LARGEST = 127
/** Rows below it are rows of zeros: their scale would not be a normal float32. */
const NOTHING = 1e-30

/**
 * What multiplies the input of the feed-forward's last map carries the massive activation of token 0; one scale for all
 * tokens leaves the others nothing. In float32 it costs a third of the gain and lifts the mean cosine on SmolLM2 after
 * layer 12 from 0.28 to 0.99 (docs/devices.md).
 */
const FLOAT_MATRICES = /\.down_proj\.weight$/

/**
 * @param weights [outputs, inputs] f32, row-major
 * @returns values round(w / scale) in [-127, 127], transposed; a row of zeros (or below 1e-30) has scale 1
 */
export function quantiseInt8(
  weights: Float32Array,
  shape: { readonly outputs: number; readonly inputs: number },
): Int8Matrix {
  const { outputs, inputs } = shape
  const values = new Int8Array(outputs * inputs)
  const scales = new Float32Array(outputs)
  for (let row = 0; row < outputs; row++) {
    let largest = 0
    for (let i = row * inputs; i < (row + 1) * inputs; i++) largest = Math.max(largest, Math.abs(weights[i] ?? 0))
    const scale = largest < NOTHING ? 1 : Math.fround(largest / LARGEST)
    scales[row] = scale
    for (let col = 0; col < inputs; col++)
      values[col * outputs + row] = Math.round((weights[row * inputs + col] ?? 0) / scale)
  }
  return { values, scales }
}

/** @param skip names of matrices that stay as they are */
export function createInt8Quantiser(
  skip: RegExp = FLOAT_MATRICES,
): (name: string, tensor: CheckpointTensor) => Int8Matrix | null {
  return (name, tensor) => {
    if (skip.test(name)) return null
    const [outputs = 0, inputs = 0] = tensor.shape
    return quantiseInt8(readTensorF32(tensor.file, tensor), { outputs, inputs })
  }
}
