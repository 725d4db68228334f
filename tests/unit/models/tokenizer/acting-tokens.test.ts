import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { actingTokenizer, countActingTokens } from '../../../../models/tokenizer/acting-tokens.ts'

describe('countActingTokens', () => {
  it('equals o200k on ordinary text and code', () => {
    const text = 'const answer = await fetch("https://example.org/a?b=1")\n  // naïve café 東京 🦊\n'.repeat(40)
    expect(countActingTokens(text)).toBe(countTokens(text))
  })

  it('counts a literal special token as its letters instead of throwing', () => {
    expect(countActingTokens('a <|endoftext|> b')).toBeGreaterThan(4)
  })

  it('counts a megabyte of one letter without a quadratic merge', () => {
    const tokens = countActingTokens('a'.repeat(1_000_000))
    expect(tokens).toBeGreaterThan(100_000)
    expect(tokens).toBeLessThan(200_000)
  }, 20_000)

  it('adds at most one token a cut to a long run', () => {
    const text = `head ${'abcdefg'.repeat(600)} tail`
    const cuts = Math.ceil((7 * 600) / 512)
    expect(Math.abs(countActingTokens(text) - countTokens(text))).toBeLessThanOrEqual(2 * cuts)
  })
})

describe('actingTokenizer', () => {
  const TEXT = 'Der Fuchs springt über 12345 faule Hunde: `src/a_b.ts` 東京\n'.repeat(20)

  it.each(['gpt-4-turbo', 'gpt-4', 'openai/gpt-3.5-turbo-16k'])('counts %s by cl100k, exactly', (model) => {
    const { encoding, countTokens: count } = actingTokenizer(model)
    expect(encoding).toEqual({ name: 'cl100k', isEstimate: false })
    expect(count(TEXT)).toBe(countCl100k(TEXT))
    expect(count(TEXT)).not.toBe(countTokens(TEXT))
  })
  it.each(['gpt-4o-mini', 'gpt-4.1', 'o3', 'o4-mini', 'gpt-5.1', 'azure/gpt-4o'])('counts %s by o200k', (model) => {
    expect(actingTokenizer(model).encoding).toEqual({ name: 'o200k', isEstimate: false })
  })
  it.each([null, '', 'claude-sonnet-4', 'gemini-3-pro', 'olmo-2', 'gpt-neo'])(
    'says that %s is an estimate',
    (model) => {
      expect(actingTokenizer(model).encoding).toEqual({ name: 'o200k', isEstimate: true })
    },
  )
})
