import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { NO_SECRETS } from '../../../src/redaction/context-rules.ts'
import { redactText } from '../../../src/redaction/redact-text.ts'
import { REDACTION_RULES } from '../../../src/redaction/rules.ts'

describe.each(REDACTION_RULES.map((rule) => [rule.id, rule] as const))('rule %s', (id, rule) => {
  it.each(rule.hits.map((example) => [example.text.slice(0, 60), example]))('masks %s', (_, example) => {
    const { text } = redactText(example.text)
    expect(text).not.toContain(example.secret)
    expect(text.replace(/\[redacted:[a-z-]+:1\]/, example.secret)).toBe(example.text)
  })

  it('is the one that names its first example', () => {
    expect(redactText(rule.hits[0]?.text ?? '').counts).toEqual({ [id]: 1 })
  })

  it.each(rule.misses.map((text) => [text]))('leaves %s', (text) => {
    expect(redactText(text).text).toBe(text)
  })
})

it.each(NO_SECRETS.map((text) => [text]))('no rule takes %s for a secret', (text) => {
  expect(redactText(text)).toEqual({ text, counts: {} })
})

it('every rule stands in docs/redaction.md with its sentence', () => {
  const docs = readFileSync(packageFile('docs', 'redaction.md'), 'utf8').replace(/\s+/g, ' ')
  for (const rule of REDACTION_RULES) expect(docs).toContain(`| ${rule.id} | ${rule.sentence} |`)
})
