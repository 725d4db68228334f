import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeRandomCheckpoint } from '../../../../models/frozen-lm/bench-random-checkpoint.ts'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { loadFrozenLm } from '../../../../models/frozen-lm/load-frozen-lm.ts'
import { type ConvertGgufOptions, convertGguf } from '../../../../models/gguf/convert.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { readSafetensorsHeader, readTensorF32 } from '../../../../models/safetensors.ts'
import { loadTokenizer } from '../../../../models/tokenizer/hf-tokenizer.ts'
import { f32ToF16Bits } from '../../../../src/tensor/half.ts'
import {
  type GgufParts,
  ggufOfCheckpoint,
  type Meta,
  smallTokenizer,
  tokenizerMetadata,
  writeGguf,
} from '../../../fixtures/gguf-file.ts'
import { RANDOM_FAMILIES } from '../../../fixtures/random-families.ts'

const TINY = packageFile('models', 'tiny')
const folder = mkdtempSync(join(tmpdir(), 'keepready-gguf-'))
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
const fresh = (name: string): string => join(folder, `${++count}-${name}`)

function convert(parts: GgufParts, options: Partial<ConvertGgufOptions> = {}) {
  const file = writeGguf(fresh('model.gguf'), parts)
  return convertGguf({ file, out: fresh('out'), dtype: null, tokenizerFile: null, ...options })
}

function weightsOf(directory: string) {
  const path = join(directory, 'model.safetensors')
  return new Map(
    [...readSafetensorsHeader(path).tensors].map(([name, info]) => [
      name,
      { shape: info.shape, dtype: info.dtype, data: readTensorF32(path, info) },
    ]),
  )
}

/** Element by element comparison of millions of weights takes the runner a minute; their bytes compare at once. */
function expectSameWeights(directory: string, original: string): void {
  const digests = (of: string) =>
    [...weightsOf(of)]
      .map(([name, { shape, dtype, data }]) => [name, shape, dtype, createHash('sha256').update(data).digest('hex')])
      .sort()
  expect(digests(directory)).toEqual(digests(original))
}

const TINY_PARTS = ggufOfCheckpoint(TINY, {
  architecture: 'llama',
  type: 'F16',
  tokenizer: tokenizerMetadata(join(TINY, 'tokenizer.json'), 'smollm'),
})

const code = (name: string, text: RegExp) =>
  expect.objectContaining({ code: name, message: expect.stringMatching(text) })

describe('the embedded model, through GGUF and back', () => {
  it('has the same weights, config and tokens, and gives the same hidden states', async () => {
    const result = await convert(TINY_PARTS)
    expect(result).toMatchObject({ architecture: 'LlamaForCausalLM', dtype: 'F16' })
    expectSameWeights(result.directory, TINY)
    expect(openCheckpoint(result.directory).config).toEqual(openCheckpoint(TINY).config)

    const text = 'def f(x):\n\treturn 1234 * x  # straße <|im_end|> 你好\r\n\n'
    const [ours, tiny] = [loadTokenizer(result.directory), loadTokenizer(TINY)]
    const tokens = tiny.encode(text)
    expect(ours.encode(text)).toEqual(tokens)
    expect(ours.decode(tokens)).toBe(text)
    expect(ours.prefixIds).toEqual(tiny.prefixIds)

    const hidden = async (directory: string) => {
      const lm = await loadFrozenLm({ directory, layer: 'default' })
      const { hidden } = await lm.prefill(tokens, { past: null, rows: 'last', keepState: false })
      await lm.close()
      return hidden.data
    }
    expect([...(await hidden(result.directory))]).toEqual([...(await hidden(TINY))])
  })

  it('is split into parts that are found from any of them', async () => {
    const parts = TINY_PARTS
    const half = Math.ceil(parts.tensors.length / 2)
    const path = (part: number): string => join(folder, `split-0000${part}-of-00002.gguf`)
    const split: Meta = { u32: parts.tensors.length }
    writeGguf(path(1), {
      tensors: parts.tensors.slice(0, half),
      metadata: { ...parts.metadata, 'split.tensors.count': split },
    })
    const options = { file: path(2), out: fresh('out'), dtype: null, tokenizerFile: null }
    await expect(convertGguf(options)).rejects.toThrow(code('file-not-found', /00002-of-00002\.gguf/))
    writeGguf(path(2), { tensors: parts.tensors.slice(half), metadata: {} })
    expectSameWeights((await convertGguf(options)).directory, TINY)
  })
})

describe('other architectures', () => {
  it.each([
    ['llama', 'llama with biases, one head per key', 'F32'],
    ['llama', 'llama in bfloat16', 'BF16'],
    ['qwen2', 'qwen2', 'F32'],
    ['qwen3', 'qwen3', 'F16'],
  ] as const)('%s keeps names, rows and config (%s, %s)', async (architecture, family, type) => {
    const source = fresh('checkpoint')
    mkdirSync(source)
    const config = RANDOM_FAMILIES[family]
    if (config === undefined) throw new Error(family)
    // Without a head of its own, which a converted config.json says in words.
    writeRandomCheckpoint({ directory: source, config: { ...config, tie_word_embeddings: true }, seed: 5 })
    const tokenizer = smallTokenizer(config.vocab_size)
    const result = await convert(ggufOfCheckpoint(source, { architecture, tokenizer, type }))
    expect(result.dtype).toBe(type)
    const [ours, original] = [weightsOf(result.directory), weightsOf(source)]
    expect([...ours.keys()].sort()).toEqual([...original.keys()].sort())
    if (type !== 'F16') for (const [name, { data }] of ours) expect(data, name).toEqual(original.get(name)?.data)
    const { weightDtype: _, ...described } = openCheckpoint(result.directory).config
    expect(openCheckpoint(source).config).toMatchObject(described)
  })
})

const NO_TOKENIZER = { 'tokenizer.ggml.model': { text: 'llama' } } as const

describe('what the file says', () => {
  it.each([
    [
      { type: 'linear', factor: 4 },
      { rope_type: 'linear', factor: 4 },
    ],
    [
      { type: 'yarn', factor: 2 },
      { rope_type: 'yarn', factor: 2, original_max_position_embeddings: 4096 },
    ],
  ])('about rope %j stands in config.json', async ({ type, factor }, wanted) => {
    const parts = TINY_PARTS
    const metadata = {
      ...parts.metadata,
      'llama.rope.scaling.type': { text: type },
      'llama.rope.scaling.factor': { f32: factor },
      'llama.rope.scaling.original_context_length': { u32: 4096 },
    }
    const { directory } = await convert({ ...parts, metadata })
    expect(JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')).rope_scaling).toEqual(wanted)
  })

  it('about llama3 rope is found in its factors, and refused where they are others', async () => {
    const parts = TINY_PARTS
    // Frequencies of theta 50,000 and 64 dimensions, in periods; below 2,048 unchanged, above 8,192 divided by 8.
    const factors = Float32Array.from({ length: 32 }, (_, i) => {
      const period = 2 * Math.PI * 50000 ** (i / 32)
      const share = Math.min(1, Math.max(0, (8192 / period - 1) / 3))
      return 1 / ((1 - share) / 8 + share)
    })
    const withFactors = (data: Float32Array): GgufParts => ({
      ...parts,
      tensors: [
        ...parts.tensors,
        { name: 'rope_freqs.weight', type: 0, dims: [data.length], bytes: new Uint8Array(data.buffer) },
      ],
    })
    const { directory } = await convert(withFactors(factors))
    expect(JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')).rope_scaling).toEqual({
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 8192,
    })
    for (const other of [factors.map((value, i) => (i === 20 ? value * 1.01 : value)), new Float32Array(31).fill(2)])
      await expect(convert(withFactors(other))).rejects.toThrow(code('gguf-unsupported', /rope_freqs/))
  })

  it('about norms is kept exactly, in F32 where half precision would round', async () => {
    const parts = TINY_PARTS
    const tensors = parts.tensors.map((tensor) => {
      if (tensor.name !== 'blk.2.ffn_norm.weight') return tensor
      return { ...tensor, bytes: new Uint8Array(new Float32Array(192).fill(0.1).buffer) }
    })
    const weights = weightsOf((await convert({ ...parts, tensors })).directory)
    const norm = weights.get('model.layers.2.post_attention_layernorm.weight')
    expect(norm?.dtype).toBe('F32')
    expect(norm?.data[0]).toBe(Math.fround(0.1))
    expect(weights.get('model.layers.1.post_attention_layernorm.weight')?.dtype).toBe('F16')
  })

  it('about weights is stored in the type asked for', async () => {
    const weights = weightsOf((await convert(TINY_PARTS, { dtype: 'F32' })).directory)
    expect(new Set([...weights.values()].map(({ dtype }) => dtype))).toEqual(new Set(['F32']))
    expect(weights.get('model.norm.weight')?.data).toEqual(weightsOf(TINY).get('model.norm.weight')?.data)
  })
})

describe('a file that cannot be converted', () => {
  const changed = (metadata: Readonly<Record<string, Meta>>): GgufParts => {
    const parts = TINY_PARTS
    return { ...parts, metadata: { ...parts.metadata, ...metadata } }
  }
  const tensorsChanged = (change: (tensor: GgufParts['tensors'][number]) => Partial<typeof tensor>): GgufParts => {
    const parts = TINY_PARTS
    return { ...parts, tensors: parts.tensors.map((tensor) => ({ ...tensor, ...change(tensor) })) }
  }

  it.each<[string, () => GgufParts, string, RegExp]>([
    [
      'another architecture',
      () => changed({ 'general.architecture': { text: 'rwkv' } }),
      'architecture-unsupported',
      /rwkv .* llama, qwen2, qwen3/,
    ],
    ['experts', () => changed({ 'llama.expert_count': { u32: 8 } }), 'architecture-unsupported', /experts/],
    ['a SentencePiece tokenizer', () => changed(NO_TOKENIZER), 'gguf-unsupported', /kind llama.*--tokenizer/],
    [
      'an unknown cut of text',
      () => changed({ 'tokenizer.ggml.pre': { text: 'new' } }),
      'gguf-unsupported',
      /is new; known are gpt-2/,
    ],
    [
      'more tokens than rows',
      () => changed({ 'tokenizer.ggml.tokens': { texts: Array.from({ length: 6145 }, (_, i) => `${i}`) } }),
      'gguf-invalid',
      /6145 tokens .* 6144 rows/,
    ],
    [
      'a token twice',
      () => changed({ 'tokenizer.ggml.tokens': { texts: ['a', 'a'] } }),
      'gguf-invalid',
      /token 1 "a" stands at 0/,
    ],
    ['a merge of one token', () => changed({ 'tokenizer.ggml.merges': { texts: ['ab'] } }), 'gguf-invalid', /merge 0/],
    [
      'a BOS that is no token',
      () => changed({ 'tokenizer.ggml.bos_token_id': { u32: 9999 } }),
      'gguf-invalid',
      /bos_token_id is 9999/,
    ],
    [
      'no layers',
      () => changed({ 'llama.block_count': { text: 'six' } }),
      'gguf-invalid',
      /block_count is no whole number/,
    ],
    [
      'heads that do not divide',
      () => changed({ 'llama.attention.head_count_kv': { u32: 2 } }),
      'gguf-invalid',
      /3 query heads .* 2/,
    ],
    ['no heads', () => changed({ 'llama.attention.head_count': { u32: 0 } }), 'gguf-invalid', /0 query heads/],
    [
      'a window',
      () => changed({ 'llama.attention.sliding_window': { u32: 4096 } }),
      'gguf-unsupported',
      /window of 4096/,
    ],
    [
      'an unknown tensor',
      () => tensorsChanged(({ name }) => ({ name: name.replace('attn_v', 'attn_z') })),
      'gguf-unsupported',
      /blk\.0\.attn_z\.weight/,
    ],
    [
      'no embedding',
      () => tensorsChanged(({ name }) => ({ name: name.replace('token_embd', 'token_emb') })),
      'gguf-invalid',
      /no token_embd/,
    ],
    [
      'NaN weights',
      () =>
        tensorsChanged(({ name, bytes }) =>
          name === 'blk.3.ffn_up.weight' ? { bytes: bytes.map((b, i) => (i > 4000 && i < 4003 ? 0xff : b)) } : {},
        ),
      'weights-not-finite',
      /blk\.3\.ffn_up\.weight holds NaN in row 10/,
    ],
  ])('has %s', async (_, parts, name, text) => {
    const before = readdirSync(folder)
    await expect(convert(parts())).rejects.toThrow(code(name, text))
    expect(readdirSync(folder).filter((entry) => !before.includes(entry))).toEqual([expect.stringMatching(/gguf$/)])
  })

  it('holds a weight too large for half precision, which f32 keeps', async () => {
    const row = Uint8Array.from({ length: 12 }, () => 0)
    const bits = f32ToF16Bits(60000)
    const parts = tensorsChanged(({ name, bytes, dims }) => {
      if (name !== 'blk.0.attn_v.weight') return {}
      // Q8_0: one block of scale 60,000 and bytes of 2, the rest zero.
      const blocks = new Uint8Array((Number(dims[0]) * Number(dims[1]) * 34) / 32)
      blocks.set([bits & 255, bits >> 8, 2, 2, ...row])
      return { type: 8, bytes: bytes.length > 0 ? blocks : bytes }
    })
    await expect(convert(parts)).rejects.toThrow(code('option-invalid', /attn_v\.weight .* --dtype f32/))
    const { directory } = await convert(parts, { dtype: 'F32' })
    expect(weightsOf(directory).get('model.layers.0.self_attn.v_proj.weight')?.data[0]).toBe(120000)
  })

  it('keeps a directory that holds something, and one whose conversion was stopped does not appear', async () => {
    const out = fresh('taken')
    mkdirSync(out)
    writeFileSync(join(out, 'mine.txt'), 'x')
    await expect(convert(TINY_PARTS, { out })).rejects.toThrow(code('option-invalid', /not empty/))
    const stopped = fresh('stopped')
    const signal = AbortSignal.abort(new Error('stopped by a test'))
    await expect(convert(TINY_PARTS, { out: stopped, signal })).rejects.toThrow('stopped by a test')
    expect(existsSync(stopped)).toBe(false)
  })

  it('takes a tokenizer.json that is given instead of its own', async () => {
    const { directory } = await convert(changed(NO_TOKENIZER), { tokenizerFile: join(TINY, 'tokenizer.json') })
    expect(loadTokenizer(directory).encode('a b')).toEqual(loadTokenizer(TINY).encode('a b'))
  })
})
