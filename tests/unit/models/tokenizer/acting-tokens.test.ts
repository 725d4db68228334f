import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { countActingTokens } from '../../../../models/tokenizer/acting-tokens.ts'

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
