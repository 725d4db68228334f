import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { redactText } from '../../../src/redaction/redact-text.ts'
import { fakeSecret } from '../../../src/redaction/rule.ts'
import { REDACTION_RULES } from '../../../src/redaction/rules.ts'

const KEY = fakeSecret('sk-ant-api03-', 95)
const OTHER = fakeSecret('ghp_', 36)

describe('redacted text', () => {
  it('has one mask for one secret, and another for another', () => {
    const { text, counts } = redactText(`a ${KEY} b ${OTHER} c ${KEY}`)
    expect(text).toBe('a [redacted:model-key:1] b [redacted:github-token:2] c [redacted:model-key:1]')
    expect(counts).toEqual({ 'model-key': 2, 'github-token': 1 })
  })

  it('names a secret that two rules find by the more specific one', () => {
    expect(redactText(`ANTHROPIC_API_KEY=${KEY}`).text).toBe('ANTHROPIC_API_KEY=[redacted:model-key:1]')
  })

  it('masks a key that a terminal has wrapped over lines as the same key', () => {
    const wrapped = `${'$ '.padEnd(40, '#')} key ${KEY.slice(0, 40)}\n${KEY.slice(40)} and more\nkey ${KEY}`
    expect(redactText(wrapped).text).toBe(
      `${'$ '.padEnd(40, '#')} key [redacted:model-key:1] and more\nkey [redacted:model-key:1]`,
    )
  })

  it('masks a key of which only a short beginning stands on its first line', () => {
    const line = ''.padEnd(65, '#')
    expect(redactText(`${line} ${KEY.slice(0, 16)}\r\n${KEY.slice(16)}\r\nend`).text).toBe(
      `${line} [redacted:model-key:1]\r\nend`,
    )
  })

  it('does not swallow the next assignment or the next word', () => {
    const line = `OPENAI_API_KEY=${fakeSecret('sk-proj-', 74)}`
    expect(redactText(`${line}\nDEBUG_2=1`).text).toBe('OPENAI_API_KEY=[redacted:model-key:1]\nDEBUG_2=1')
    expect(redactText(`${line}\ndone`).text).toBe('OPENAI_API_KEY=[redacted:model-key:1]\ndone')
  })

  it('takes time that grows with the length of a hostile text, not with its square', () => {
    const hostile = ['a', 'eyJ', '-----BEGIN PRIVATE KEY-----', 'password=', 'x://y:', 'sk-'].map((piece) =>
      piece.repeat(Math.ceil(200_000 / piece.length)),
    )
    for (const text of hostile) expect(redactText(text).text.length).toBeGreaterThan(0)
  }, 20_000)

  const example = fc.constantFrom(...REDACTION_RULES.flatMap((rule) => rule.hits))
  test.prop([
    fc.array(
      fc.oneof(
        fc.string(),
        example.map((hit) => ` ${hit.text} `),
      ),
      { maxLength: 8 },
    ),
  ])('stays as it is when it is redacted again', (parts) => {
    const once = redactText(parts.join('')).text
    expect(redactText(once).text).toBe(once)
  })
})
