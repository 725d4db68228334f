/**
 * Memory that reading a view will take, from the config and the tensors' sizes alone. A formula fitted to measurements
 * (onnxruntime 1.30, CPU, one thread); tests hold it to 15 % of the resident size of a real run.
 *   weights     resident: 4 bytes a weight of the matrices below the cut (half precision is widened); mmap: the file's bytes
 *   KV          4 bytes x 2 x key-value heads x head size x layers, a token
 *   activations 4 bytes x (3 x feed-forward size + 8 x hidden size), a token: the widest layer's; layers reuse them
 *   scores      4 bytes x heads x tokens of a run x tokens, where attention holds them (attention-scores.ts)
 *   tokenizer   5 MB + 1,400 bytes an entry: measured 14 MB for 6,144 entries, 72 MB for 49,152
 *   base        Node with keepready and the runtime loaded
 */
import { elementCount } from '../safetensors.ts'
import { boundedTokens, scoreBound } from './attention-scores.ts'
import type { Checkpoint } from './checkpoint.ts'
import { type DecoderConfig, EMBEDDING, type LayerConfig } from './decoder.ts'
import type { Precision, WeightsMode } from './execution.ts'

export interface MemoryEstimate {
  /** Private to the process when resident, shared through the page cache when mapped. */
  readonly weightBytes: number
  /** Kept for every token of a shared part. */
  readonly keyValueBytesPerToken: number
  /** Recurrent states: the same whatever the length. */
  readonly stateBytes: number
  readonly activationBytesPerToken: number
  readonly tokenizerBytes: number
  readonly baseBytes: number
  /** Peak of one run of `tokens` tokens. */
  readonly totalBytes: number
}

/** Measured: 70 MB for Node 20 with our code and the runtime's library, 35 MB for a session. */
const BASE_BYTES = 105e6
const FLOAT_BYTES = 4

/**
 * @param options.layer the graph is cut after it; 0 = embeddings
 */
export function estimateMemory(
  checkpoint: Pick<Checkpoint, 'config' | 'tensors'>,
  options: {
    readonly layer: number
    readonly tokens: number
    readonly weights: Exclude<WeightsMode, 'auto'>
    /** f16: weights, keys and values take two bytes each instead of four. Default: f32. */
    readonly precision?: Precision
  },
): MemoryEstimate {
  const { config, tensors } = checkpoint
  const { layer, tokens, weights, precision = 'f32' } = options
  const narrowBytes = precision === 'f16' ? FLOAT_BYTES / 2 : FLOAT_BYTES
  const layers = config.layers.slice(0, layer)
  let weightBytes = 0
  for (const [name, tensor] of tensors) {
    // Embeddings stay in their file; the rows of a view are small.
    if (name === EMBEDDING || layerOf(name) >= layer) continue
    weightBytes += weights === 'mmap' ? tensor.sizeBytes : narrowBytes * elementCount(tensor.shape)
  }
  const tokenizerBytes = 5e6 + 1400 * config.vocabularySize
  const keyValueBytesPerToken = narrowBytes * sum(layers.map(keyValueSize))
  const stateBytes = FLOAT_BYTES * sum(layers.map(recurrentSize))
  const activationBytesPerToken = FLOAT_BYTES * activationSize(config, layers)
  const scores = scoreBound(config, layer, 'fused')
  const scoreBytes = scores === null ? 0 : scores.pairBytes * tokens * Math.min(tokens, boundedTokens(scores, tokens))
  return {
    weightBytes,
    keyValueBytesPerToken,
    stateBytes,
    activationBytesPerToken,
    tokenizerBytes,
    baseBytes: BASE_BYTES,
    totalBytes:
      BASE_BYTES +
      tokenizerBytes +
      weightBytes +
      stateBytes +
      scoreBytes +
      tokens * (keyValueBytesPerToken + activationBytesPerToken),
  }
}

function layerOf(name: string): number {
  return Number(name.match(/\.layers\.(\d+)\./)?.[1] ?? 0)
}

function keyValueSize({ mixer }: LayerConfig): number {
  return mixer.kind === 'attention' ? 2 * mixer.keyValueHeadCount * mixer.headSize : 0
}

function recurrentSize({ mixer }: LayerConfig): number {
  if (mixer.kind === 'attention') return 0
  const { keyHeadCount, keyHeadSize, valueHeadCount, valueHeadSize, convolutionSize } = mixer
  const channels = 2 * keyHeadCount * keyHeadSize + valueHeadCount * valueHeadSize
  return valueHeadCount * keyHeadSize * valueHeadSize + channels * (convolutionSize - 1)
}

function activationSize(config: DecoderConfig, layers: readonly LayerConfig[]): number {
  const widest = Math.max(
    0,
    ...layers.map(({ feedForward }) =>
      feedForward.kind === 'dense'
        ? feedForward.size
        : feedForward.size * feedForward.activeCount + (feedForward.sharedSize ?? 0),
    ),
  )
  return 3 * widest + 8 * config.hiddenSize
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
