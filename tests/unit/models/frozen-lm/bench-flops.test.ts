import { describe, expect, it } from 'vitest'
import { prefillFlops } from '../../../../models/frozen-lm/bench-flops.ts'
import { parseDecoderConfig } from '../../../../models/frozen-lm/config.schema.ts'

const CONFIG = {
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 16,
  vocab_size: 50,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
}
const TOKENS = 40

/** Of a model of one layer, all rows wanted. */
function flopsOf(architecture: string, change: Readonly<Record<string, unknown>> = {}): number {
  const config = parseDecoderConfig({ ...CONFIG, architectures: [architecture], ...change }, 'config.json')
  return prefillFlops(config, { layer: 1, tokens: TOKENS, rows: TOKENS })
}

describe('prefillFlops', () => {
  it('counts the pairs inside of a window only, and all of them where the window is longer than the run', () => {
    const full = flopsOf('MistralForCausalLM')
    expect(flopsOf('MistralForCausalLM', { sliding_window: 64 })).toBe(full)
    let pairs = 0
    for (let token = 0; token < TOKENS; token++) pairs += Math.min(token + 1, 10)
    const saved = 4 * 2 * 16 * ((TOKENS * (TOKENS + 1)) / 2 - pairs)
    expect(flopsOf('MistralForCausalLM', { sliding_window: 10 })).toBe(full - saved)
  })

  it('counts the experts that a token takes, not those there are', () => {
    const moe = { num_experts_per_tok: 2, moe_intermediate_size: 8 }
    const four = flopsOf('Qwen3MoeForCausalLM', { ...moe, num_experts: 4 })
    const router = (experts: number): number => 2 * 32 * experts * TOKENS
    expect(flopsOf('Qwen3MoeForCausalLM', { ...moe, num_experts: 64 }) - four).toBe(router(64) - router(4))
    expect(flopsOf('Qwen3ForCausalLM') - four).toBe(6 * 32 * 48 * TOKENS - (6 * 32 * 8 * 2 * TOKENS + router(4)))
  })

  it('grows with the tokens of a delta net, not with their square', () => {
    const delta = {
      linear_num_key_heads: 1,
      linear_num_value_heads: 2,
      linear_key_head_dim: 8,
      linear_value_head_dim: 8,
    }
    const architectures = ['Qwen3_5ForCausalLM']
    const config = parseDecoderConfig({ ...CONFIG, ...delta, linear_conv_kernel_dim: 4, architectures }, 'config.json')
    const at = (tokens: number): number => prefillFlops(config, { layer: 1, tokens, rows: tokens })
    expect(at(80)).toBe(2 * at(40))
    const projections = 2 * 32 * (2 * 8 + 16 + 16 + 2 * 2) + 2 * 32 * 16
    expect(at(1)).toBe(projections + 6 * 32 * 48 + 7 * 8 * 16)
  })
})
