/** Ways to write one decoder as a graph: the same mathematics for other devices, less memory or integer products. */
import type { CheckpointTensor } from './checkpoint.ts'

/** A [outputs, inputs] matrix as 8-bit integers, one scale per output row. */
export interface Int8Matrix {
  /** [inputs, outputs], row-major: the transpose of the checkpoint's layout. */
  readonly values: Int8Array
  /** (outputs) */
  readonly scales: Float32Array
}

export interface GraphVariant {
  /**
   * fused   onnxruntime's GroupQueryAttention with its flash kernel: scores are never materialised
   * plain   matrix products, mask and softmax, H * S * T scores at a time: CUDA has no float32 kernel of the fused
   *         operator, and on one WebGPU driver it was silently wrong (reference/frozen-lm.md, sections 7 and 8)
   */
  readonly attention: 'fused' | 'plain'
  /**
   * at-load  half-precision matrices become float32 once, when the session loads
   * at-run   each when its layer runs, and is dropped again: the file's pages are all that stays
   */
  readonly widen: 'at-load' | 'at-run'
  /** Gives the matrices of the linear maps as integers; null leaves them as they are. */
  readonly quantise: ((tensor: CheckpointTensor) => Int8Matrix) | null
}

export const CPU_VARIANT: GraphVariant = { attention: 'fused', widen: 'at-load', quantise: null }
