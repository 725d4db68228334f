/**
 * GGUF architectures that are read, as llama.cpp's converter writes them: where each tensor of the file belongs in a
 * Hugging Face checkpoint, and which rows it reordered.
 */

export interface GgufArchitecture {
  /** `general.architecture`, and the prefix of the metadata keys. */
  readonly name: string
  readonly hfArchitecture: string
  readonly hfModelType: string
  /** Query and key rows are stored with the two halves of each head interleaved. */
  readonly interleavedHeads: boolean
}

/** Mistral models carry the name llama. */
export const GGUF_ARCHITECTURES: readonly GgufArchitecture[] = [
  { name: 'llama', hfArchitecture: 'LlamaForCausalLM', hfModelType: 'llama', interleavedHeads: true },
  { name: 'qwen2', hfArchitecture: 'Qwen2ForCausalLM', hfModelType: 'qwen2', interleavedHeads: false },
  { name: 'qwen3', hfArchitecture: 'Qwen3ForCausalLM', hfModelType: 'qwen3', interleavedHeads: false },
]

export interface HfPlace {
  readonly name: string
  /** Rows of this tensor belong to query or key heads, which some architectures interleave. */
  readonly heads: 'query' | 'key' | null
}

const OUTSIDE: Readonly<Record<string, string>> = {
  token_embd: 'model.embed_tokens',
  output_norm: 'model.norm',
  output: 'lm_head',
}

const IN_LAYER: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
}

/** The llama3 rope factors that the converter adds; they are read into config.json, not copied. */
export const ROPE_FACTORS = 'rope_freqs.weight'

/** @returns null for a tensor that no supported decoder has */
export function hfPlace(ggufName: string): HfPlace | null {
  const layered = ggufName.match(/^blk\.(0|[1-9]\d{0,5})\.([a-z_]+)\.(weight|bias)$/)
  if (layered !== null) {
    const [, layer, part = '', kind] = layered
    const place = Object.hasOwn(IN_LAYER, part) ? IN_LAYER[part] : undefined
    if (place === undefined) return null
    const heads = part === 'attn_q' ? 'query' : part === 'attn_k' ? 'key' : null
    return { name: `model.layers.${layer}.${place}.${kind}`, heads }
  }
  const [, part = '', kind] = ggufName.match(/^([a-z_]+)\.(weight|bias)$/) ?? []
  const place = Object.hasOwn(OUTSIDE, part) ? OUTSIDE[part] : undefined
  return place === undefined ? null : { name: `${place}.${kind}`, heads: null }
}
