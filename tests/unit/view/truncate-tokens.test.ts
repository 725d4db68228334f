import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { loadTokenizer } from '../../../models/tokenizer/hf-tokenizer.ts'
import { markerText, truncateTokens } from '../../../src/view/truncate-tokens.ts'
import { createViewEncoder, encodeText } from '../../../src/view/view-encoder.ts'
import { createWordTokenizer } from '../../fakes/word-tokenizer.ts'

const CACHE = { largestSection: 1280, maxCachedChars: 1_000_000 }
const words = createWordTokenizer()
const wordEncoder = createViewEncoder(words, CACHE)
const tiny = createViewEncoder(loadTokenizer(packageFile('models', 'tiny')), CACHE)

describe('truncating tokens', () => {
  it('returns a text that fits as it is', () => {
    const text = wordEncoder.encode('one two three')
    expect(truncateTokens(wordEncoder, text, 5)).toEqual({ tokens: text.head, goneTokens: 0 })
  })

  it('keeps head and tail around a marker that says how many tokens are gone', () => {
    const source = Array.from({ length: 100 }, (_, i) => `w${i}`).join('-')
    const cut = truncateTokens(wordEncoder, wordEncoder.encode(source), 40)
    const text = words.decode(cut.tokens)
    expect(cut.tokens.length).toBeLessThanOrEqual(40)
    expect(text).toContain(markerText(cut.goneTokens, false))
    const [head = '', tail = ''] = text.split(markerText(cut.goneTokens, false))
    expect(source.startsWith(head) && source.endsWith(tail)).toBe(true)
    expect(words.encode(head).length + words.encode(tail).length + cut.goneTokens).toBe(199)
  })

  it('keeps nothing where not even the marker fits', () => {
    const cut = truncateTokens(wordEncoder, wordEncoder.encode('a b c d e f g h i j'), 5)
    expect(cut.tokens.length).toBe(0)
    expect(cut.goneTokens).toBe(19)
  })

  it('never ends or starts inside a character, at any limit', () => {
    const source = '\u{1f7e1}\u{1f7e2}\u00e9\u4e2d'.repeat(40)
    const encoded = tiny.encode(source)
    for (let limit = 0; limit < 120; limit++) {
      const { tokens } = truncateTokens(tiny, encoded, limit)
      expect(tokens.length).toBeLessThanOrEqual(limit)
      expect(tiny.tokenizer.decode(tokens)).not.toContain('\ufffd')
    }
  })

  it('keeps a replacement character that stands in the text itself', () => {
    const source = `${'\ufffd'.repeat(3)} then ${'word '.repeat(200)}`
    const { tokens, goneTokens } = truncateTokens(tiny, tiny.encode(source), 60)
    expect(tiny.tokenizer.decode(tokens).startsWith('\ufffd'.repeat(3))).toBe(true)
    expect(goneTokens).toBeGreaterThan(0)
  })
})

describe('encoding text once', () => {
  it('encodes only the two ends of a text beyond the window and says that the count is an estimate', () => {
    let encodedChars = 0
    const counting = {
      ...words,
      encode: (text: string) => {
        encodedChars += text.length
        return words.encode(text)
      },
    }
    const source = 'abcd '.repeat(200_000)
    const encoded = encodeText(counting, source, 32768)
    expect(encodedChars).toBeLessThanOrEqual(32768)
    expect(encoded.estimated).toBe(true)
    expect(Math.abs(encoded.tokenCount / 400_000 - 1)).toBeLessThan(0.001)
    const cut = truncateTokens(wordEncoder, encoded, 100)
    expect(words.decode(cut.tokens)).toContain(`about ${cut.goneTokens} tokens left out`)
    expect(cut.tokens.length).toBeLessThanOrEqual(100)
  })

  it('cuts a long text outside surrogate pairs', () => {
    const { head, tail } = encodeText(tiny.tokenizer, `x${'\u{1f7e1}'.repeat(1000)}`, 200)
    expect(tiny.tokenizer.decode(head)).toBe(`x${'\u{1f7e1}'.repeat(49)}`)
    expect(tiny.tokenizer.decode(tail)).toBe('\u{1f7e1}'.repeat(50))
  })

  it('encodes equal texts once while they are in the cache and forgets the longest unused', () => {
    const seen: string[] = []
    const counting = {
      ...words,
      encode: (text: string) => {
        seen.push(text)
        return words.encode(text)
      },
    }
    const encoder = createViewEncoder(counting, { largestSection: 100, maxCachedChars: 10 })
    for (const text of ['aaaa', 'bbbb', 'aaaa', 'cccc', 'aaaa', 'bbbb']) encoder.encode(text)
    expect(seen).toEqual(['aaaa', 'bbbb', 'cccc', 'bbbb'])
  })

  it('treats literal special tokens in a text as text', () => {
    const { head } = tiny.encode('<|endoftext|>')
    expect(head.length).toBeGreaterThan(1)
    expect(tiny.tokenizer.decode(head)).toBe('<|endoftext|>')
  })
})
