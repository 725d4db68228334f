/** Ways to write one decoder as a graph: the same mathematics for other devices, less memory or integer products. */
import type { CheckpointTensor } from './checkpoint.ts'
import type { Precision } from './execution.ts'

/** A [outputs, inputs] matrix as 8-bit integers, one scale per output row. */
export interface Int8Matrix {
  /** [inputs, outputs], row-major: the transpose of the checkpoint's layout. */
  readonly values: Int8Array
  /** (outputs) */
  readonly scales: Float32Array
}

export interface GraphVariant {
  /**
   * fused   GroupQueryAttention with its flash kernel (scores are never materialised), FusedMatMul on the mapped matrix
   * plain   matrix products, mask and softmax, H * S * T scores at a time; transposed copies of the matrices. CUDA has no
   *         float32 kernel of the fused attention, on one WebGPU driver it was silently wrong (reference/frozen-lm.md,
   *         sections 7 and 8), and WebGPU has no FusedMatMul: every linear map would run on the CPU (docs/devices.md)
   */
  readonly operators: 'fused' | 'plain'
  /**
   * at-load  half-precision matrices become float32 once, when the session loads
   * at-run   each when its layer runs, and is dropped again: the file's pages are all that stays
   */
  readonly widen: 'at-load' | 'at-run'
  /** f16 takes plain operators: what the fused ones do with it is not known on any device. */
  readonly precision: Precision
  /** Gives the matrix of a linear map as integers; null leaves one, or all of them, as they are. */
  readonly quantise: ((name: string, tensor: CheckpointTensor) => Int8Matrix | null) | null
}

export const CPU_VARIANT: GraphVariant = {
  operators: 'fused',
  widen: 'at-load',
  precision: 'f32',
  quantise: null,
}
