import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { renderProtocolDocs } from '../../../scripts/protocol-docs.ts'
import { RULE_EVIDENCE } from '../../../scripts/rule-evidence.ts'
import { FORMATS } from '../../../src/protocol/formats.ts'
import { HISTORY_FORMATS } from '../../../src/protocol/history.ts'

const RULES = HISTORY_FORMATS.flatMap((format) => FORMATS[format].rules)

describe('docs/protocol-rules.md', () => {
  it('is what the rules of the code say', () => {
    const hint = 'run: npx tsx scripts/generate-protocol-docs.ts'
    expect(readFileSync(packageFile('docs', 'protocol-rules.md'), 'utf8'), hint).toBe(renderProtocolDocs())
  })
  it('has evidence for every rule, and for no other', () => {
    expect(Object.keys(RULE_EVIDENCE).sort()).toEqual([...new Set(RULES.map(({ id }) => id))].sort())
  })
  it('has no rule twice in one format', () => {
    const names = RULES.map(({ format, id }) => `${format} ${id}`)
    expect(new Set(names).size).toBe(names.length)
  })
})
