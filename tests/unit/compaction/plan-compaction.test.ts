import { describe, expect, it } from 'vitest'
import { buildTokenTable } from '../../../src/compaction/count-history.ts'
import { MEDIUM_TOKENS } from '../../../src/compaction/media-tokens.ts'
import { DEFAULT_PLAN_LIMITS, planCompaction, summaryBudget } from '../../../src/compaction/plan-compaction.ts'
import { AppError } from '../../../src/errors.ts'
import { hashHistory } from '../../../src/protocol/hash-history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'

const countTokens = (text: string): number => Math.ceil(text.length / 4)
const splitOf = (messages: readonly unknown[]) => splitHistory(parseHistory(JSON.stringify(messages), 'openai-chat'))
const step = (length: number): unknown => ({ role: 'assistant', content: 'x'.repeat(length) })
const GO = { role: 'user', content: 'go' }

describe('planCompaction', () => {
  it('accepts a span that passes every gate, and predicts the tokens after', () => {
    const split = splitOf([GO, step(2000), step(2000), step(2000), step(2000), step(40)])
    const plan = planCompaction({ split, ready: new Set([0, 1, 2, 3]), limits: DEFAULT_PLAN_LIMITS, countTokens })
    const [span] = plan.spans
    expect(span).toMatchObject({ start: 0, end: 4, sourceTokens: 4 * 504, accepted: true })
    expect(plan.baseHash).toBe(hashHistory(split.history))
    const predicted = span?.gates.find(({ name }) => name === 'shrink')?.value ?? Number.NaN
    expect(plan.tokens).toEqual({ before: 4 * 504 + 14 + 5, after: 14 + 5 + predicted })
  })

  it('shows why a span is refused', () => {
    const split = splitOf([GO, step(400), step(400), step(400), step(40)])
    const [span] = planCompaction({ split, ready: new Set([0, 1, 2]), limits: DEFAULT_PLAN_LIMITS, countTokens }).spans
    expect(span?.accepted).toBe(false)
    expect(span?.gates.map(({ name, pass }) => [name, pass])).toEqual([
      ['length', false],
      ['source-tokens', false],
      ['shrink', true],
    ])
  })

  it('throws history-incomplete when there is nothing to judge', () => {
    const act = (): unknown =>
      planCompaction({ split: splitOf([GO]), ready: new Set(), limits: DEFAULT_PLAN_LIMITS, countTokens })
    expect(act).toThrow(AppError)
    expect(act).toThrow(/no complete interaction/)
  })
})

describe('summaryBudget', () => {
  it('is a share of the source, up to a limit', () => {
    expect(summaryBudget(1000)).toBe(250)
    expect(summaryBudget(1_000_000)).toBe(1200)
    expect(summaryBudget(1000, { ...DEFAULT_PLAN_LIMITS, maxSummaryShare: 0.1 })).toBe(100)
  })
})

describe('buildTokenTable', () => {
  it('counts an image as an image, whatever its base64 length, and text as text', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(24_000) } }
    const messages = [
      GO,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'shot', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [image] }, image] },
    ]
    const table = buildTokenTable(parseHistory(JSON.stringify(messages), 'anthropic-messages'), countTokens)
    expect(table.ofParts([{ message: 2, blocks: [1, 2] }])).toBe(MEDIUM_TOKENS)
    expect(table.ofParts([{ message: 2, blocks: [0, 1] }])).toBe(MEDIUM_TOKENS + countTokens('[image]'))
  })

  it('adds up: the parts of all messages are the total', () => {
    const history = splitOf([GO, step(100), step(7)]).history
    const table = buildTokenTable(history, countTokens)
    expect(table.ofParts(history.messages.map((_, message) => ({ message })))).toBe(table.total)
  })
})
