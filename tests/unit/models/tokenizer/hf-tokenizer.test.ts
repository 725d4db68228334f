import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { embeddedModelDirectory } from '../../../../models/model-directory.ts'
import { loadTokenizer } from '../../../../models/tokenizer/hf-tokenizer.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-tokenizer-'))
afterAll(() => rmSync(folder, { recursive: true }))
let count = 0

/** Word-level tokenizer a=0 b=1, <s>=2 special, <t>=3 an added token that is not special. */
const WORDS = {
  version: '1.0',
  added_tokens: [
    { id: 2, content: '<s>', special: true, single_word: false, lstrip: false, rstrip: false, normalized: false },
    { id: 3, content: '<t>', special: false, single_word: false, lstrip: false, rstrip: false, normalized: false },
  ],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null as unknown,
  decoder: null,
  model: { type: 'BPE', vocab: { a: 0, b: 1 } as Record<string, number>, merges: [] as string[] },
}

const BOS_TEMPLATE = {
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  pair: [],
  special_tokens: { '<s>': { id: '<s>', ids: [2], tokens: ['<s>'] } },
}

function directoryWith(files: Readonly<Record<string, unknown>>): string {
  count += 1
  const directory = join(folder, String(count))
  mkdirSync(directory)
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(directory, name), typeof value === 'string' ? value : JSON.stringify(value))
  return directory
}

describe('loadTokenizer', () => {
  const tiny = loadTokenizer(embeddedModelDirectory())

  test.prop([fc.string({ unit: 'binary', maxLength: 60 })])('decodes what it encoded, whatever the text', (text) => {
    expect(tiny.decode(tiny.encode(text))).toBe(text)
  })

  test.prop([
    fc.array(fc.constantFrom('<|im_start|>', '<|im_end|>', '<|endoftext|>', 'x', ' ', '\n'), { maxLength: 8 }),
  ])('never makes a special token out of text', (pieces) => {
    const ids = tiny.encode(pieces.join(''))
    expect([0, 1, 2].some((special) => ids.includes(special))).toBe(false)
  })

  it('knows the size of the vocabulary and adds no BOS where the model has none', () => {
    expect(tiny.vocabularySize).toBe(6144)
    expect(tiny.prefixIds).toEqual([])
  })

  it('keeps added tokens that are not special', () => {
    const tokenizer = loadTokenizer(directoryWith({ 'tokenizer.json': WORDS }))
    expect([...tokenizer.encode('a<t>')]).toEqual([0, 3])
  })

  it('starts views with BOS when the post-processor adds one', () => {
    const json = { ...WORDS, post_processor: BOS_TEMPLATE }
    expect(loadTokenizer(directoryWith({ 'tokenizer.json': json })).prefixIds).toEqual([2])
  })

  it('lets an explicit add_bos_token win over the post-processor', () => {
    const withBos = { ...WORDS, post_processor: BOS_TEMPLATE }
    const off = directoryWith({ 'tokenizer.json': withBos, 'tokenizer_config.json': { add_bos_token: false } })
    expect(loadTokenizer(off).prefixIds).toEqual([])
    const on = directoryWith({
      'tokenizer.json': WORDS,
      'tokenizer_config.json': { add_bos_token: true, bos_token: { content: '<s>' } },
    })
    expect(loadTokenizer(on).prefixIds).toEqual([2])
  })

  it('says which file is missing', () => {
    expect(() => loadTokenizer(directoryWith({}))).toThrow(
      expect.objectContaining({ code: 'tokenizer-missing', message: expect.stringContaining('tokenizer.json') }),
    )
  })

  it('follows no link out of the model directory', () => {
    const directory = directoryWith({})
    writeFileSync(join(folder, 'outside.json'), JSON.stringify(WORDS))
    symlinkSync(join(folder, 'outside.json'), join(directory, 'tokenizer.json'))
    expect(() => loadTokenizer(directory)).toThrow(expect.objectContaining({ code: 'model-link-escapes' }))
  })

  it.each([
    ['no JSON', '{'],
    ['another document', { hello: 1 }],
    ['an unknown model', { ...WORDS, model: { type: 'Magic', vocab: {} } }],
    ['a component the library does not know', { ...WORDS, pre_tokenizer: { type: 'Telepathy' } }],
  ])('refuses %s by name', (_, json) => {
    expect(() => loadTokenizer(directoryWith({ 'tokenizer.json': json }))).toThrow(
      expect.objectContaining({ code: 'tokenizer-invalid' }),
    )
  })

  it('refuses a tokenizer whose special tokens can be forged by text', () => {
    const forgeable = {
      ...WORDS,
      pre_tokenizer: null,
      model: {
        type: 'BPE',
        vocab: { '<': 4, s: 5, '>': 6, '<s': 7, '<s>': 2, a: 0, b: 1 },
        merges: ['< s', '<s >'],
      },
    }
    expect(() => loadTokenizer(directoryWith({ 'tokenizer.json': forgeable }))).toThrow(
      expect.objectContaining({ code: 'tokenizer-invalid', message: expect.stringContaining('forge') }),
    )
  })
})
