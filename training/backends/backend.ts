/**
 * The training seam: loss, gradients and AdamW on one batch. Everything else (order, masks, epochs, early stopping) is
 * shared and engine-free. Source of the numbers: reference/trainer.md, DESIGN section 8.
 */
import type { RouterParameters, RouterSpec } from '../../models/router/spec.ts'
import type { Batch } from '../batch.ts'

export interface AdamWOptions {
  readonly learningRate: number
  /** Decoupled weight decay of weights; biases take none. */
  readonly decay: number
  readonly beta1: number
  readonly beta2: number
  readonly epsilon: number
}

export const DEFAULT_ADAMW: AdamWOptions = {
  learningRate: 3e-4,
  decay: 0.01,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
}

export interface BackendOptions {
  readonly spec: RouterSpec
  /** Where training starts; copied. */
  readonly parameters: RouterParameters
  readonly adamw: AdamWOptions
}

/** Everything that a run needs to go on bit for bit. Plain arrays: structured-cloneable. */
export interface BackendState {
  readonly parameters: RouterParameters
  readonly firstMoment: RouterParameters
  readonly secondMoment: RouterParameters
  /** Optimiser steps done. */
  readonly step: number
}

export interface TrainerBackend {
  readonly name: string
  /** Of the runtime behind it. */
  readonly version: string
  /** The same seed gives the same bits on this machine. */
  readonly deterministic: boolean
  /**
   * Loss and its gradient at the current parameters, nothing changes.
   * @param mask (T * P, H) f32, 0 or 1 / (1 - dropout); exactly when the spec has dropout, else null
   */
  gradients(batch: Batch, mask: Float32Array | null): Promise<{ loss: number; gradients: RouterParameters }>
  /** One AdamW step; returns the loss before it. */
  step(batch: Batch, mask: Float32Array | null): Promise<number>
  /** (T * P) f32 without dropout; padding rows hold a number without meaning. */
  logits(batch: Batch): Promise<Float32Array>
  exportState(): BackendState
  importState(state: BackendState): void
  close(): Promise<void>
}
