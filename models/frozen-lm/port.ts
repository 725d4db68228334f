/**
 * The frozen LM seam: tokens in, last-token hidden states out. Handles never cross a process boundary.
 */
import type { Matrix } from '../../src/tensor/matrix.ts'
import type { SelfCheck } from './devices/self-check.ts'

export type Device = 'cpu' | 'cuda' | 'webgpu'

/** What later tokens attend to: a KV cache (or recurrent state) owned by the LM that returned it. */
export interface StateHandle {
  readonly tokenCount: number
  readonly sizeBytes: number
}

export interface FrozenLmInfo {
  /** `architectures[0]` of config.json, e.g. LlamaForCausalLM. */
  readonly architecture: string
  /** d: length of a hidden state. */
  readonly hiddenSize: number
  /** Layers of the checkpoint; the graph is cut after `layer` (1-based; 0 = embeddings). */
  readonly layerCount: number
  readonly layer: number
  /** max_position_embeddings: most tokens of one view. */
  readonly contextLength: number
  readonly vocabularySize: number
  readonly device: Device
  /** How far the device is from the CPU, where it is another one. */
  readonly selfCheck?: SelfCheck
}

export interface PrefillOptions {
  /** State to continue, null to start at position 0. It is not consumed and may be reused. */
  readonly past: StateHandle | null
  /** Positions inside `tokens` whose hidden states are wanted; `last` = the last token only. */
  readonly rows: 'last' | readonly number[]
  /** Return the state after the last token; the caller disposes it. */
  readonly keepState: boolean
}

export interface PrefillResult {
  /** (rows, hiddenSize) f32: output of decoder layer `layer`, before the final norm. */
  readonly hidden: Matrix
  readonly state: StateHandle | null
}

export interface FrozenLm {
  readonly info: FrozenLmInfo
  /** @throws context-too-short, session-failed, output-not-finite */
  prefill(tokens: Int32Array, options: PrefillOptions): Promise<PrefillResult>
  dispose(state: StateHandle): void
  close(): Promise<void>
}
