/**
 * A checkpoint's decoder, cut after layer L, as an F16 GGUF file that llama.cpp computes the same hidden states from.
 * For comparing with llama.cpp on equal weights (keepready bench extract). Tokens go in as ids: the vocabulary is made of
 * placeholders, which llama.cpp wants to see.
 */
import { AppError } from '../../src/errors.ts'
import { encodeF16 } from '../../src/tensor/half.ts'
import type { Checkpoint } from '../frozen-lm/checkpoint.ts'
import {
  type AttentionConfig,
  type DenseConfig,
  EMBEDDING,
  type LayerConfig,
  layerTensor,
} from '../frozen-lm/decoder.ts'
import { readTensorF32 } from '../safetensors.ts'
import { type GgufTensor, type GgufValue, writeGguf } from './write-gguf.ts'

/** llama.cpp's names of what Hugging Face calls otherwise. */
const TENSOR_NAMES: Readonly<Record<string, string>> = {
  'input_layernorm.weight': 'attn_norm.weight',
  'self_attn.q_proj.weight': 'attn_q.weight',
  'self_attn.k_proj.weight': 'attn_k.weight',
  'self_attn.v_proj.weight': 'attn_v.weight',
  'self_attn.o_proj.weight': 'attn_output.weight',
  'post_attention_layernorm.weight': 'ffn_norm.weight',
  'mlp.gate_proj.weight': 'ffn_gate.weight',
  'mlp.up_proj.weight': 'ffn_up.weight',
  'mlp.down_proj.weight': 'ffn_down.weight',
}

/** llama_pooling_type: the embedding of the last token. */
const POOLING_LAST = 3

/**
 * Plain Llama-type decoders only: one rotary table without scaling, no biases, no windows, dense SwiGLU. llama.cpp has a
 * final norm behind the last layer: it gets a weight of ones, so that its embedding is our hidden state over its RMS.
 * @throws architecture-unsupported, tensor-mismatch, disk-full
 */
export function writeDecoderGguf(
  checkpoint: Checkpoint,
  options: { readonly layer: number; readonly path: string },
): void {
  const { config, directory } = checkpoint
  const { layer, path } = options
  const layers = config.layers.slice(0, layer).map((block) => plainLayer(checkpoint, block))
  const [first] = layers
  const [table] = config.ropes
  if (first === undefined || table === undefined || config.ropes.length !== 1 || table.rope.kind !== 'default')
    throw unsupported(directory, 'one rotary table without scaling and at least one layer are needed')
  const { attention, dense } = first
  const u32 = (value: number): GgufValue => ({ kind: 'u32', value })
  const metadata = new Map<string, GgufValue>([
    ['general.architecture', { kind: 'text', value: 'llama' }],
    ['general.name', { kind: 'text', value: `${config.architecture} cut after layer ${layer}` }],
    ['general.file_type', u32(1)],
    ['llama.vocab_size', u32(config.vocabularySize)],
    ['llama.context_length', u32(config.contextLength)],
    ['llama.embedding_length', u32(config.hiddenSize)],
    ['llama.block_count', u32(layer)],
    ['llama.feed_forward_length', u32(dense.size)],
    ['llama.attention.head_count', u32(attention.headCount)],
    ['llama.attention.head_count_kv', u32(attention.keyValueHeadCount)],
    ['llama.attention.key_length', u32(attention.headSize)],
    ['llama.attention.value_length', u32(attention.headSize)],
    ['llama.attention.layer_norm_rms_epsilon', { kind: 'f32', value: config.norm.epsilon }],
    ['llama.rope.dimension_count', u32(table.rotarySize)],
    ['llama.rope.freq_base', { kind: 'f32', value: table.rope.theta }],
    ['llama.pooling_type', u32(POOLING_LAST)],
    ['tokenizer.ggml.model', { kind: 'text', value: 'gpt2' }],
    ['tokenizer.ggml.pre', { kind: 'text', value: 'gpt-2' }],
    [
      'tokenizer.ggml.tokens',
      { kind: 'texts', value: Array.from({ length: config.vocabularySize }, (_, id) => `<${id}>`) },
    ],
    ['tokenizer.ggml.merges', { kind: 'texts', value: [] }],
    ['tokenizer.ggml.add_bos_token', { kind: 'bool', value: false }],
    ['tokenizer.ggml.add_eos_token', { kind: 'bool', value: false }],
  ])
  const tensors: GgufTensor[] = [
    matrix(checkpoint, { from: EMBEDDING, to: 'token_embd.weight' }),
    {
      name: 'output_norm.weight',
      dtype: 'F32',
      shape: [config.hiddenSize],
      read: () => bytesOf(new Float32Array(config.hiddenSize).fill(1)),
    },
  ]
  for (let index = 0; index < layer; index++)
    for (const [from, to] of Object.entries(TENSOR_NAMES))
      tensors.push(
        matrix(checkpoint, {
          from: layerTensor(index, from),
          to: `blk.${index}.${to}`,
          heads: headsOf(attention, from),
        }),
      )
  writeGguf(path, { metadata, tensors })
}

/** Heads whose rows change their order: llama.cpp rotates neighbouring dimensions, Hugging Face halves of a head. */
function headsOf(attention: AttentionConfig, name: string): number | null {
  if (name === 'self_attn.q_proj.weight') return attention.headCount
  if (name === 'self_attn.k_proj.weight') return attention.keyValueHeadCount
  return null
}

function matrix(
  checkpoint: Checkpoint,
  entry: { readonly from: string; readonly to: string; readonly heads?: number | null },
): GgufTensor {
  const { from, to, heads = null } = entry
  const tensor = checkpoint.tensors.get(from)
  if (tensor === undefined) throw unsupported(checkpoint.directory, `it has no ${from}`)
  const { shape } = tensor
  const base = { name: to, shape }
  // Vectors (norms) stay in F32: llama.cpp computes with them so.
  if (shape.length === 1) return { ...base, dtype: 'F32', read: () => bytesOf(readTensorF32(tensor.file, tensor)) }
  return {
    ...base,
    dtype: 'F16',
    read: () => {
      // F16 comes back as it was, other types are rounded to it.
      const bytes = bytesOf(encodeF16(readTensorF32(tensor.file, tensor)))
      return heads === null ? bytes : interleaveHalves(bytes, { heads, rows: shape[0] ?? 0 })
    },
  }
}

/** Row h * D + half * D/2 + k of a head becomes row h * D + 2k + half. */
export function interleaveHalves(
  bytes: Uint8Array,
  layout: { readonly heads: number; readonly rows: number },
): Uint8Array {
  const rowBytes = bytes.length / layout.rows
  const headSize = layout.rows / layout.heads
  const out = new Uint8Array(bytes.length)
  for (let row = 0; row < layout.rows; row++) {
    const inHead = row % headSize
    const target = row - inHead + 2 * (inHead % (headSize / 2)) + Math.floor(inHead / (headSize / 2))
    out.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), target * rowBytes)
  }
  return out
}

function plainLayer(
  { directory, config }: Checkpoint,
  layer: LayerConfig,
): { readonly attention: AttentionConfig; readonly dense: DenseConfig } {
  const { mixer, feedForward, norms } = layer
  if (mixer.kind !== 'attention' || feedForward.kind !== 'dense')
    throw unsupported(directory, 'attention and dense feed-forward blocks are needed')
  const plain =
    mixer.rope === 0 &&
    mixer.window === null &&
    mixer.softCap === null &&
    mixer.queryKeyNorm === null &&
    !mixer.queryKeyValueBias &&
    !mixer.outputBias &&
    !mixer.outputGate &&
    !mixer.fusedProjections &&
    Math.abs(mixer.scale * Math.sqrt(mixer.headSize) - 1) < 1e-6 &&
    feedForward.activation === 'silu' &&
    !feedForward.bias &&
    !feedForward.fusedProjections &&
    norms.afterMixer === null &&
    norms.afterFeedForward === null &&
    config.norm.weightOffset === 0 &&
    [config.embeddingScale, config.inputScale, config.residualScale].every((scale) => scale === 1)
  if (!plain) throw unsupported(directory, 'a plain Llama layer is needed (no biases, windows, scales or extra norms)')
  return { attention: mixer, dense: feedForward }
}

function bytesOf(values: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

function unsupported(directory: string, what: string): AppError {
  return new AppError('architecture-unsupported', `${directory} cannot be written as GGUF: ${what}`)
}
