import { describe, expect, it } from 'vitest'
import { parseDecoderConfig } from '../../../../models/frozen-lm/config.schema.ts'
import type { AttentionConfig, DecoderConfig } from '../../../../models/frozen-lm/decoder.ts'
import { SUPPORTED_ARCHITECTURES } from '../../../../models/frozen-lm/families/registry.ts'

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 320,
  max_position_embeddings: 4096,
  rms_norm_eps: 1e-6,
}

const parse = (change: Readonly<Record<string, unknown>>) => parseDecoderConfig({ ...CONFIG, ...change }, 'config.json')

/** Attention of layer `index`. */
function attentionOf(config: DecoderConfig, index = 0): AttentionConfig {
  const mixer = config.layers[index]?.mixer
  if (mixer?.kind !== 'attention') throw new Error(`layer ${index} has no attention`)
  return mixer
}

describe('parseDecoderConfig', () => {
  it.each([
    [
      { rope_theta: 5e5, rope_scaling: { type: 'linear', factor: 4 }, torch_dtype: 'bfloat16' },
      { rope_parameters: { rope_theta: 5e5, rope_type: 'linear', factor: 4 }, dtype: 'bfloat16' },
    ],
    [
      { rope_theta: 1e4, rope_scaling: null, torch_dtype: 'float16' },
      { rope_parameters: { rope_theta: 1e4, rope_type: 'default' }, dtype: 'float16' },
    ],
    [
      { rope_theta: 1e4, rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 } },
      { rope_parameters: { rope_theta: 1e4, rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 } },
    ],
  ])('reads both spellings alike: %j', (version4, version5) => {
    expect(parse(version4)).toEqual(parse(version5))
  })

  it('fills in what old files leave out: one key head per head, head size, theta', () => {
    const { num_key_value_heads: _, ...old } = CONFIG
    const config = parseDecoderConfig(old, 'config.json')
    expect(config).toMatchObject({
      ropes: [{ rotarySize: 16, rope: { kind: 'default', theta: 10000 } }],
      weightDtype: null,
    })
    expect(attentionOf(config)).toMatchObject({ keyValueHeadCount: 4, headSize: 16, window: null })
  })

  it.each([
    ['LlamaForCausalLM', { attention_bias: true }, { queryKeyValueBias: true, outputBias: true, queryKeyNorm: null }],
    ['LlamaModel', { attention_bias: false }, { queryKeyValueBias: false, outputBias: false }],
    ['MistralForCausalLM', { sliding_window: 32 }, { queryKeyValueBias: false, window: 32 }],
    [
      'Qwen2ForCausalLM',
      { sliding_window: 32, use_sliding_window: false },
      { queryKeyValueBias: true, outputBias: false, window: null },
    ],
    ['Qwen3ForCausalLM', {}, { queryKeyValueBias: false, queryKeyNorm: 'head' }],
    ['Olmo2ForCausalLM', {}, { queryKeyNorm: 'projection' }],
    ['GraniteForCausalLM', { attention_multiplier: 0.5 }, { scale: 0.5 }],
    ['Phi3ForCausalLM', { sliding_window: null }, { fusedProjections: true, window: null }],
    ['Gemma2ForCausalLM', { sliding_window: 8, query_pre_attn_scalar: 64 }, { window: 8, scale: 0.125, softCap: null }],
  ])('knows how the attention of %s differs', (architecture, change, expected) => {
    expect(attentionOf(parse({ ...change, architectures: [architecture] }))).toMatchObject(expected)
  })

  it('gives each layer its own window and rope where files list none', () => {
    const layersOf = (change: Readonly<Record<string, unknown>>) => {
      const config = parse({ num_hidden_layers: 6, sliding_window: 8, ...change })
      return config.layers.map((_, index) => {
        const { window, rope } = attentionOf(config, index)
        return `${window ?? '-'}${rope ?? '-'}`
      })
    }
    expect(layersOf({ architectures: ['Gemma2ForCausalLM'] })).toEqual(['80', '-0', '80', '-0', '80', '-0'])
    expect(layersOf({ architectures: ['Gemma3ForCausalLM'] })).toEqual(['81', '81', '81', '81', '81', '-0'])
    expect(layersOf({ architectures: ['SmolLM3ForCausalLM'] })).toEqual(['-0', '-0', '-0', '--', '-0', '-0'])
    const upper = { use_sliding_window: true, max_window_layers: 4 }
    expect(layersOf({ architectures: ['Qwen3ForCausalLM'], ...upper })).toEqual(['-0', '-0', '-0', '-0', '80', '80'])
  })

  it('chooses the factors of longrope once, by the longest view', () => {
    const factors = { short_factor: Array(8).fill(1), long_factor: Array(8).fill(3) }
    const phi = {
      ...CONFIG,
      architectures: ['Phi3ForCausalLM'],
      max_position_embeddings: 131072,
      original_max_position_embeddings: 4096,
      rope_scaling: { type: 'longrope', ...factors },
    }
    const ropeFor = (viewTokens?: number) => parseDecoderConfig(phi, 'config.json', viewTokens).ropes[0]?.rope
    const attentionFactor = Math.sqrt(1 + Math.log(32) / Math.log(4096))
    expect(ropeFor(4096)).toEqual({ kind: 'factors', theta: 10000, factors: factors.short_factor, attentionFactor })
    expect(ropeFor(4097)).toEqual({ kind: 'factors', theta: 10000, factors: factors.long_factor, attentionFactor })
    expect(ropeFor()).toEqual(ropeFor(131072))
  })

  it('reads longrope alike in both spellings, and takes a factor of attention that is given', () => {
    const own = {
      short_factor: Array(8).fill(1),
      long_factor: Array(8).fill(3),
      original_max_position_embeddings: 1024,
    }
    const version4 = parse({ rope_scaling: { type: 'longrope', factor: 4, ...own } })
    const version5 = parse({ rope_parameters: { rope_type: 'longrope', rope_theta: 10000, ...own } })
    expect(version5).toEqual(version4)
    const given = parse({ rope_scaling: { type: 'longrope', attention_factor: 1.5, ...own } })
    expect(given.ropes[0]?.rope).toMatchObject({ attentionFactor: 1.5 })
  })

  it('reads dynamic rope as the plain one: no view is longer than the context from which it scales', () => {
    expect(parse({ rope_scaling: { type: 'dynamic', factor: 8 } })).toEqual(parse({}))
  })

  it('scales the rope of the full layers of OLMo 3 only, in all spellings', () => {
    const olmo = { architectures: ['Olmo3ForCausalLM'], num_hidden_layers: 4, sliding_window: 8 }
    const yarn = { rope_type: 'yarn', factor: 8, original_max_position_embeddings: 512 }
    const version4 = parse({ ...olmo, rope_theta: 5e5, rope_scaling: yarn })
    const flat = parse({ ...olmo, rope_parameters: { ...yarn, rope_theta: 5e5 } })
    const byType = parse({
      ...olmo,
      rope_parameters: {
        full_attention: { ...yarn, rope_theta: 5e5 },
        sliding_attention: { rope_type: 'default', rope_theta: 5e5 },
      },
    })
    expect(flat).toEqual(version4)
    expect(byType).toEqual(version4)
    expect(version4.ropes.map(({ rope }) => [rope.kind, rope.theta])).toEqual([
      ['yarn', 5e5],
      ['default', 5e5],
    ])
    expect(version4.layers.map((_, index) => attentionOf(version4, index).window)).toEqual([8, 8, 8, null])
    expect(version4.layers.map((_, index) => attentionOf(version4, index).rope)).toEqual([1, 1, 1, 0])
  })

  it('reads Qwen3.5-MoE out of its wrapper, where no layer is dense', () => {
    const text = {
      ...CONFIG,
      ...{ model_type: 'qwen3_5_moe_text', head_dim: 16, intermediate_size: undefined },
      ...{ num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 8, shared_expert_intermediate_size: 12 },
      ...{ linear_num_key_heads: 2, linear_num_value_heads: 4, linear_key_head_dim: 8, linear_value_head_dim: 8 },
      ...{ linear_conv_kernel_dim: 4, layer_types: ['linear_attention', 'linear_attention', 'full_attention'] },
    }
    const config = parseDecoderConfig(
      { architectures: ['Qwen3_5MoeForConditionalGeneration'], text_config: text },
      'config.json',
    )
    expect(config.layers.map(({ mixer }) => mixer.kind)).toEqual(['delta-net', 'delta-net', 'attention'])
    const experts = { kind: 'experts', expertCount: 4, activeCount: 2, size: 8, activation: 'silu' }
    for (const { feedForward } of config.layers)
      expect(feedForward).toEqual({ ...experts, normalised: true, sharedSize: 12, stacked: true })
  })

  it('reads the two ropes of Gemma 3 alike in both spellings', () => {
    const gemma = { architectures: ['Gemma3ForCausalLM'], sliding_window: 8 }
    const version4 = parse({
      ...gemma,
      rope_theta: 1e6,
      rope_local_base_freq: 1e4,
      rope_scaling: { rope_type: 'linear', factor: 8 },
    })
    const version5 = parse({
      ...gemma,
      rope_parameters: {
        full_attention: { rope_type: 'linear', factor: 8, rope_theta: 1e6 },
        sliding_attention: { rope_type: 'default', rope_theta: 1e4 },
      },
    })
    expect(version5).toEqual(version4)
    expect(version4.ropes.map(({ rope }) => rope.kind)).toEqual(['linear', 'default'])
  })

  it('reads the text part of a multimodal wrapper, with what published Gemma 3 files leave out', () => {
    const text = { model_type: 'gemma3_text', hidden_size: 2560, intermediate_size: 10240, num_hidden_layers: 34 }
    const wrapper = {
      architectures: ['Gemma3ForConditionalGeneration'],
      text_config: { ...text, sliding_window: 1024, rope_scaling: { rope_type: 'linear', factor: 8 } },
      vision_config: { hidden_size: 1152 },
      torch_dtype: 'bfloat16',
    }
    const config = parseDecoderConfig(wrapper, 'config.json')
    expect(config).toMatchObject({ hiddenSize: 2560, layerCount: 34, vocabularySize: 262208, weightDtype: 'BF16' })
    expect(attentionOf(config, 5)).toMatchObject({ headCount: 8, keyValueHeadCount: 4, headSize: 256, window: null })
    const unknown = { ...wrapper, text_config: { ...text, model_type: 'whisper' } }
    expect(() => parseDecoderConfig(unknown, 'config.json')).toThrow(
      expect.objectContaining({
        code: 'architecture-unsupported',
        message: expect.stringContaining('Gemma3ForConditionalGeneration (text part: whisper) is not supported'),
      }),
    )
  })

  it('names an unsupported architecture and the supported ones, whatever other fields it has', () => {
    expect(() => parseDecoderConfig({ architectures: ['MambaForCausalLM'] }, 'c.json')).toThrow(
      expect.objectContaining({
        code: 'architecture-unsupported',
        message: `c.json: architecture MambaForCausalLM is not supported; supported are ${SUPPORTED_ARCHITECTURES.join(', ')}`,
      }),
    )
  })

  it.each(Object.keys(CONFIG))('names the missing field %s', (field) => {
    const expected = field === 'num_key_value_heads' ? null : field
    if (expected === null)
      return expect(attentionOf(parse({ num_key_value_heads: undefined })).keyValueHeadCount).toBe(4)
    return expect(() => parse({ [field]: undefined })).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining(field) }),
    )
  })

  it.each([
    [{ hidden_size: -1 }, /hidden_size/],
    [{ hidden_size: 2 ** 40 }, /hidden_size/],
    [{ num_hidden_layers: 2 ** 20 }, /num_hidden_layers/],
    [{ num_attention_heads: 0 }, /num_attention_heads/],
    [{ num_attention_heads: 2 ** 20 }, /num_attention_heads/],
    [{ num_attention_heads: 5, num_key_value_heads: 5 }, /hidden_size 64 is no multiple of num_attention_heads 5/],
    [{ num_key_value_heads: 3 }, /no multiple of num_key_value_heads 3/],
    [{ head_dim: 2 ** 20 }, /head_dim/],
    [{ hidden_size: 2 ** 20 }, /the size of a head is 262144, at most 2048/],
    [{ head_dim: 7 }, /rotates 7 of the 7 dimensions/],
    [{ hidden_act: 'gelu' }, /hidden_act gelu is not supported for LlamaForCausalLM, only silu/],
    [{ hidden_act: 'constructor' }, /hidden_act constructor/],
    [{ dtype: 'int8' }, /dtype int8/],
    [{ quantization_config: { bits: 4 } }, /quantised/],
    [{ rope_scaling: { type: 'ntk', factor: 2 } }, /ntk is not supported, only default, .*longrope/],
    [{ rope_scaling: { type: 'longrope', factor: 2 } }, /longrope needs original_max_position_embeddings/],
    [
      { rope_scaling: { type: 'longrope', long_factor: [1], original_max_position_embeddings: 8 } },
      /needs 8 numbers in long_factor, one for each rotated pair, not 1/,
    ],
    [
      { rope_scaling: { type: 'longrope', short_mscale: 1.2, original_max_position_embeddings: 8 } },
      /short_mscale or long_mscale/,
    ],
    [{ rope_scaling: { type: 'linear' } }, /needs factor/],
    [{ rope_scaling: { type: 'linear', factor: 0 } }, /factor/],
    [{ rope_scaling: { type: 'llama3', factor: 8 } }, /needs low_freq_factor/],
    [{ partial_rotary_factor: 0.5 }, /partial_rotary_factor 0\.5/],
    [{ rope_scaling: { type: 'yarn', factor: 4, truncate: false } }, /truncate/],
  ])('refuses what it does not implement: %j', (change, text) => {
    expect(() => parse(change)).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringMatching(text) }),
    )
  })

  const MOE = { num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 8 }
  const DELTA = {
    linear_num_key_heads: 2,
    linear_num_value_heads: 4,
    linear_key_head_dim: 8,
    linear_value_head_dim: 8,
    linear_conv_kernel_dim: 4,
  }
  it.each([
    ['Qwen3ForCausalLM', { layer_types: Array(3).fill('sliding_attention') }, /sliding_window is missing/],
    ['Qwen3ForCausalLM', { layer_types: ['full_attention'] }, /layer_types names 1 layers, num_hidden_layers is 3/],
    ['Qwen3ForCausalLM', { layer_types: ['a', 'b', 'c'] }, /layer type a is not supported for Qwen3ForCausalLM/],
    ['Gemma2ForCausalLM', {}, /sliding_window is missing/],
    ['Gemma3ForCausalLM', { use_bidirectional_attention: true }, /use_bidirectional_attention/],
    ['Qwen3MoeForCausalLM', { ...MOE, num_experts: 0 }, /num_experts/],
    ['Qwen3MoeForCausalLM', { ...MOE, num_experts: undefined }, /num_experts is missing/],
    ['Qwen3MoeForCausalLM', { ...MOE, num_experts: 2 ** 20 }, /num_experts/],
    ['Qwen3MoeForCausalLM', { ...MOE, num_experts_per_tok: 5 }, /5 is more than the 4 experts/],
    ['Qwen3_5ForCausalLM', { ...DELTA, linear_num_value_heads: 3 }, /linear_num_value_heads 3 is no multiple/],
    ['Qwen3_5ForCausalLM', { ...DELTA, linear_value_head_dim: 2 ** 20 }, /linear_value_head_dim/],
    [
      'Qwen3_5ForCausalLM',
      { ...DELTA, linear_num_value_heads: 1024, linear_key_head_dim: 512, linear_value_head_dim: 512 },
      /the recurrent state has 268435456 values in each of 3 layers/,
    ],
    ['Qwen3_5ForCausalLM', { ...DELTA, linear_conv_kernel_dim: 2 ** 20 }, /linear_conv_kernel_dim/],
    ['Qwen3_5ForCausalLM', { ...DELTA, linear_conv_kernel_dim: 1 }, /linear_conv_kernel_dim/],
    ['Qwen3_5ForCausalLM', { ...DELTA, partial_rotary_factor: 2 }, /partial_rotary_factor 2/],
    ['Qwen3NextForCausalLM', { ...DELTA, ...MOE }, /shared_expert_intermediate_size/],
    [
      'Qwen3_5MoeForCausalLM',
      { ...DELTA, ...MOE, shared_expert_intermediate_size: 8, num_experts_per_tok: 5 },
      /5 is more than the 4 experts/,
    ],
    ['SmolLM3ForCausalLM', { no_rope_layers: [1] }, /no_rope_layers marks 1 layers/],
    [
      'Phi3ForCausalLM',
      { rope_scaling: { type: 'su', short_factor: [1] }, original_max_position_embeddings: 2 ** 20 },
      /numbers in short_factor, .* not 1/,
    ],
  ])('refuses what does not fit together in %s: %j', (architecture, change, text) => {
    expect(() => parse({ ...change, architectures: [architecture] })).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringMatching(text) }),
    )
  })
})
