/**
 * The items of a real Codex rollout as the list that its client sends: read, and compacted at every tenth item.
 */
import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { applyPlan } from '../../../../src/compaction/apply-plan.ts'
import { summarisePlan } from '../../../../src/compaction/extractive-summary.ts'
import { planCompaction } from '../../../../src/compaction/plan-compaction.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const countTokens = (text: string): number => Math.ceil(text.length / 4)

function readItems(): readonly string[] {
  const path = sharedPath('trajectories', 'long', 'entire-skills', '6c-fb81c05ca9-0.codex-rollout.jsonl')
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): { readonly type: string; readonly payload: unknown } => JSON.parse(line))
    .filter(({ type }) => type === 'response_item')
    .map(({ payload }) => JSON.stringify(payload))
}

describe('the items of a real run', () => {
  itWithShared('are as many model calls as its index says, and break no rule', () => {
    const history = parseHistory(`[${readItems()}]`, 'openai-responses')
    expect(splitHistory(history).interactions).toHaveLength(17)
    expect(validateHistory(history)).toEqual([])
  })

  itWithShared('stay valid in every compaction', () => {
    const items = readItems()
    const outcomes = Array.from({ length: Math.floor(items.length / 10) }, (_, tenth) => {
      const history = parseHistory(`[${items.slice(0, (tenth + 1) * 10)}]`, 'openai-responses')
      const split = splitHistory(history)
      if (!split.interactions.some(({ state }) => state === 'answered')) return 'noop'
      const known = validateHistory(history).map(({ rule }) => rule)
      const ready = new Set(split.interactions.map(({ index }) => index).filter((index) => index % 7 !== 3))
      const limits = { minSpanInteractions: 0, minSourceTokens: 1 }
      const plan = planCompaction({ split, ready, limits, countTokens })
      const done = applyPlan({ split, plan, summaries: summarisePlan({ split, plan, countTokens }), countTokens })
      const after = validateHistory({ ...history, messages: done.messages })
      expect(after.filter(({ rule }) => !known.includes(rule))).toEqual([])
      return done.outcome
    })
    expect(outcomes).not.toContain('failed')
    expect(outcomes.filter((outcome) => outcome === 'applied').length).toBeGreaterThan(5)
  })
})
