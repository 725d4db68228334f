/**
 * A checkpoint of any shape with random weights, written in seconds: for benchmarks on a machine without the real
 * weights, and for tests. Speed and memory do not depend on the values.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRng } from '../../src/rng.ts'
import { encodeBf16, encodeF16 } from '../../src/tensor/half.ts'
import { elementCount, type WritableTensor, writeSafetensors } from '../safetensors.ts'
import { parseDecoderConfig } from './config.schema.ts'
import type { WeightDtype } from './decoder.ts'
import { decoderTensors } from './decoder-tensors.ts'
import { headTensors } from './head/head-tensors.ts'

/** SmolLM2-135M: the shape of the extraction figures. */
export const SMOLLM2_SHAPE = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 64,
  hidden_act: 'silu',
  max_position_embeddings: 8192,
  rms_norm_eps: 1e-5,
  rope_theta: 100000,
  tie_word_embeddings: true,
  torch_dtype: 'float16',
  vocab_size: 49152,
} as const

/** Larger tensors repeat this many values from a random start. */
const POOL_SIZE = 1 << 20
/** Keeps activations of random models in the range of real ones. */
const STANDARD_DEVIATION = 0.05

/**
 * Writes config.json and model.safetensors.
 * @param config fields of config.json; `torch_dtype` decides the dtype (float32 where absent)
 * @param withHead final norm and lm_head too: other tensors keep their values
 */
export function writeRandomCheckpoint(options: {
  readonly directory: string
  readonly config: Readonly<Record<string, unknown>>
  readonly seed: number
  readonly withHead?: boolean
}): void {
  const { directory, config, seed, withHead = false } = options
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'config.json'), `${JSON.stringify(config, null, 2)}\n`)
  const decoder = parseDecoderConfig(config, directory)
  const rng = createRng(seed)
  const shapes = new Map(
    [...decoderTensors(decoder), ...(withHead ? headTensors(decoder) : [])].map(({ name, shape, part }) =>
      part === null ? [name, shape] : [part.of, part.whole],
    ),
  )
  const largest = Math.max(...[...shapes.values()].map(elementCount))
  const pool = Float32Array.from({ length: Math.min(POOL_SIZE, largest) }, () => rng.nextNormal() * STANDARD_DEVIATION)
  const tensors = [...shapes].map(([name, shape]): WritableTensor => {
    const values = drawFrom(pool, rng.nextBelow(pool.length), elementCount(shape))
    // Norm scales lie around 1.
    if (name.endsWith('norm.weight')) for (let i = 0; i < values.length; i++) values[i] = 1 + (values[i] ?? 0)
    return withDtype({ name, shape, data: values }, decoder.weightDtype ?? 'F32')
  })
  writeSafetensors(join(directory, 'model.safetensors'), tensors)
}

function drawFrom(pool: Float32Array, start: number, count: number): Float32Array {
  const out = new Float32Array(count)
  for (let done = 0, from = start; done < count; from = 0) {
    const piece = pool.subarray(from, Math.min(pool.length, from + count - done))
    out.set(piece, done)
    done += piece.length
  }
  return out
}

function withDtype(
  tensor: { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array },
  dtype: WeightDtype,
): WritableTensor {
  if (dtype === 'F32') return tensor
  return { ...tensor, dtype, data: dtype === 'F16' ? encodeF16(tensor.data) : encodeBf16(tensor.data) }
}
