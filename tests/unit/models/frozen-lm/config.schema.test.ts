import { describe, expect, it } from 'vitest'
import { parseDecoderConfig } from '../../../../models/frozen-lm/config.schema.ts'

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
    expect(parseDecoderConfig(old, 'config.json')).toMatchObject({
      keyValueHeadCount: 4,
      headSize: 16,
      rope: { kind: 'default', theta: 10000 },
      weightDtype: null,
      attentionWindow: null,
    })
  })

  it.each([
    [
      'LlamaForCausalLM',
      { attention_bias: true, mlp_bias: true },
      { queryKeyValueBias: true, outputBias: true, feedForwardBias: true, headNorm: false },
    ],
    ['MistralForCausalLM', { sliding_window: 32 }, { queryKeyValueBias: false, attentionWindow: 32 }],
    [
      'Qwen2ForCausalLM',
      { sliding_window: 32, use_sliding_window: false },
      { queryKeyValueBias: true, outputBias: false, attentionWindow: null },
    ],
    ['Qwen3ForCausalLM', {}, { queryKeyValueBias: false, headNorm: true }],
  ])('knows how %s differs', (architecture, change, expected) => {
    expect(parse({ ...change, architectures: [architecture] })).toMatchObject(expected)
  })

  it('names an unsupported architecture and the supported ones, whatever other fields it has', () => {
    expect(() => parseDecoderConfig({ architectures: ['MambaForCausalLM'] }, 'c.json')).toThrow(
      expect.objectContaining({
        code: 'architecture-unsupported',
        message:
          'c.json: architecture MambaForCausalLM is not supported; supported are LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM',
      }),
    )
  })

  it.each(Object.keys(CONFIG))('names the missing field %s', (field) => {
    const expected = field === 'num_key_value_heads' ? null : field
    if (expected === null) return expect(parse({ num_key_value_heads: undefined }).keyValueHeadCount).toBe(4)
    return expect(() => parse({ [field]: undefined })).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining(field) }),
    )
  })

  it.each([
    [{ hidden_size: -1 }, /hidden_size/],
    [{ hidden_size: 2 ** 40 }, /hidden_size/],
    [{ num_key_value_heads: 3 }, /no multiple of num_key_value_heads 3/],
    [{ head_dim: 24 }, /head is 24/],
    [{ hidden_act: 'gelu' }, /hidden_act gelu/],
    [{ dtype: 'int8' }, /dtype int8/],
    [{ quantization_config: { bits: 4 } }, /quantised/],
    [{ rope_scaling: { type: 'longrope', factor: 2 } }, /longrope is not supported/],
    [{ rope_scaling: { type: 'linear' } }, /needs factor/],
    [{ rope_scaling: { type: 'llama3', factor: 8 } }, /needs low_freq_factor/],
    [{ partial_rotary_factor: 0.5 }, /partial_rotary_factor 0\.5/],
    [{ architectures: ['Qwen3ForCausalLM'], use_sliding_window: true }, /use_sliding_window/],
    [{ rope_scaling: { type: 'yarn', factor: 4, truncate: false } }, /truncate/],
  ])('refuses what it does not implement: %j', (change, text) => {
    expect(() => parse(change)).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringMatching(text) }),
    )
  })
})
