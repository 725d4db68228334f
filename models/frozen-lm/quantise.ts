/**
 * Matrices as 8-bit integers, symmetric, one scale per output: what DynamicQuantizeMatMul multiplies. Activations are
 * quantised by the runtime, 8 bits with one scale per run, so a row depends on the rows it runs with.
 */
import { readTensorF32 } from '../safetensors.ts'
import type { CheckpointTensor } from './checkpoint.ts'
import type { Int8Matrix } from './graph-variant.ts'

const LARGEST = 127

/**
 * @param weights [outputs, inputs] f32, row-major
 * @returns values round(w / scale) in [-127, 127], transposed; a row of zeros has scale 1
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
    const scale = largest === 0 ? 1 : Math.fround(largest / LARGEST)
    scales[row] = scale
    for (let col = 0; col < inputs; col++)
      values[col * outputs + row] = Math.round((weights[row * inputs + col] ?? 0) / scale)
  }
  return { values, scales }
}

export function createInt8Quantiser(): (tensor: CheckpointTensor) => Int8Matrix {
  return (tensor) => {
    const [outputs = 0, inputs = 0] = tensor.shape
    return quantiseInt8(readTensorF32(tensor.file, tensor), { outputs, inputs })
  }
}
