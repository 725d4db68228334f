/**
 * Extraction seam: a trajectory's checkpoints in, candidate vectors h and state vectors q out.
 * One implementation (extractor.ts) builds the views, tokenises and runs the frozen LM; it lives in a worker thread
 * (CLI) or a supervised child process (server). Requests and results are structured-cloneable values.
 */

import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { Recipe } from '../../src/view/recipe.ts'
import type { SelfCheck } from './devices/self-check.ts'
import type { Execution } from './execution.ts'
import type { Representation, StorageDtype } from './representation.ts'

/** Structured-cloneable. */
export interface ExtractorOptions {
  /** HF checkpoint directory. */
  readonly directory: string
  /** Decoder layer whose output is read, 1-based; `default` is two thirds of the depth, rounded up. */
  readonly layer: number | 'default'
  readonly recipe: Recipe
  readonly storageDtype: StorageDtype
  /**
   * How the model is run; missing fields as in DEFAULT_EXECUTION.
   */
  readonly execution?: Partial<Execution>
  /**
   * Bytes of vectors to remember for later requests of the same session. Vectors are the same with and without it,
   * `computedTokens` is not. Default: 0 in this and in a worker thread, 64 MiB in a supervised process.
   */
  readonly vectorCacheBytes?: number
  /**
   * Bytes of states of earlier views to start later ones from (prefix-cache.ts). Vectors are the same with and without
   * it, `computedTokens` is not. Default: 0 in this and in a worker thread, 256 MiB in a supervised process.
   */
  readonly prefixCacheBytes?: number
}

export interface ExtractionRequest {
  readonly trajectory: Trajectory
  /** Checkpoints c (canonical) whose q is wanted; targets of each are [0, c-1) of the trajectory. */
  readonly checkpoints: readonly number[]
}

/**
 * One vector, rounded to the representation's storage dtype.
 *   role 'h', recipes once, full:  one per interaction, checkpoint = null
 *   role 'h', other recipes:       one per (interaction, checkpoint)
 *   role 'q':                      one per checkpoint, interaction = null
 */
export interface ExtractedVector {
  readonly role: 'h' | 'q'
  readonly interaction: number | null
  readonly checkpoint: number | null
  /** (hiddenSize) f32 holding values representable in the storage dtype. */
  readonly values: Float32Array
  /** Tokens of the whole view that ends in this vector. */
  readonly viewTokens: number
  /** Source tokens that truncation left out of that view. */
  readonly truncatedTokens: number
}

/** What the prefix cache did in one extraction. */
export interface PrefixCacheUse {
  /** Stored states that were used. */
  readonly hits: number
  /** States that had to be computed. */
  readonly misses: number
  /** Tokens that were not computed because a state behind them was stored. */
  readonly savedTokens: number
  /** States that made room for others. */
  readonly evictions: number
  /** Of everything stored when the extraction ended. */
  readonly sizeBytes: number
}

export interface Extraction {
  readonly vectors: readonly ExtractedVector[]
  /** Tokens the LM actually computed (shared parts once). */
  readonly computedTokens: number
  readonly prefixCache: PrefixCacheUse
  /** Tokens of each interaction's whole text by the frozen LM's tokenizer, by position in trajectory.interactions. */
  readonly interactionTokens: readonly number[]
  /** Microseconds spent. */
  readonly tokenizeUs: number
  readonly inferenceUs: number
}

export interface ExtractionProgress {
  /** Views whose vector is there. */
  readonly views: number
  readonly computedTokens: number
}

export interface ExtractionHooks {
  /** Stops the extraction between two runs of the model. */
  readonly signal?: AbortSignal | undefined
  /** Told now and then while the extraction goes on; not at its end. */
  readonly onProgress?: ((progress: ExtractionProgress) => void) | undefined
}

export interface Extractor {
  readonly representation: Representation
  /** How far the device is from the CPU; absent on the CPU. */
  readonly selfCheck?: SelfCheck | undefined
  extract(request: ExtractionRequest, hooks?: ExtractionHooks): Promise<Extraction>
  close(): Promise<void>
}
