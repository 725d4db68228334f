import { describe, expect, it } from 'vitest'
import { applyPlan } from '../../../../src/compaction/apply-plan.ts'
import type { Compaction } from '../../../../src/compaction/plan.ts'
import { planCompaction } from '../../../../src/compaction/plan-compaction.ts'
import type { SplitHistory } from '../../../../src/protocol/history.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const LONG = 'listed one file '.repeat(40)
const step = (name: string, more = ''): readonly string[] => [
  `{"role":"model","parts":[{"text":"Hm.","thought":true},{"functionCall":{"name":"${name}","args":{"n":1.0}}, "thoughtSignature":"c2ln"}]}`,
  `{"role":"user","parts":[{"functionResponse":{"name":"${name}","response":{"output":"${LONG}"}}}${more}]}`,
]

/** `ready` interactions replaced under a model that wants its signatures. */
function compact(contents: readonly string[], ready: readonly number[]): { split: SplitHistory; done: Compaction } {
  const body = `{"model":"gemini-3-pro-preview","contents":[${contents}]}`
  const split = splitHistory(parseHistory(body, 'gemini-contents'))
  const countTokens = (text: string): number => Math.ceil(text.length / 4)
  const limits = { minSpanInteractions: 0, minSourceTokens: 0 }
  const plan = planCompaction({ split, ready: new Set(ready), limits, countTokens })
  const summaries = new Map(plan.spans.map((span) => [span.start, 'facts:\n- one file']))
  return { split, done: applyPlan({ split, plan, summaries, countTokens }) }
}

describe('a compaction of Gemini contents', () => {
  const GO = '{"role":"user","parts":[{"text":"go"}]}'
  const DONE = '{"role":"model","parts":[{"text":"done"}]}'

  it('stays valid inside the current turn, and every other content keeps its bytes', () => {
    const contents = [GO, ...step('a'), ...step('b'), ...step('c'), DONE]
    const { split, done } = compact(contents, [1])
    expect(done.outcome).toBe('applied')
    const raws = done.messages.map(({ raw }) => raw)
    expect(raws.toSpliced(3, 1)).toEqual(contents.toSpliced(3, 2))
    expect(raws[3]).toMatch(/^{"role":"user","parts":\[{"text":"<keepready-summary id=/)
    const rules = (messages: Compaction['messages']): readonly string[] =>
      validateHistory({ ...split.history, messages }).map(({ rule }) => rule)
    expect(rules(done.messages)).toEqual(rules(split.history.messages))
  })

  it('leaves human text beside the responses where it was', () => {
    const contents = [GO, ...step('a', ',{ "text":"and hurry"}'), ...step('b'), DONE]
    const { done } = compact(contents, [0])
    expect(done.outcome).toBe('applied')
    expect(done.messages[2]?.raw).toBe('{"role":"user","parts":[{ "text":"and hurry"}]}')
  })

  it('recognises its own summary, and goes on with the canonical numbers', () => {
    const { split, done } = compact([GO, ...step('a'), ...step('b'), DONE], [0, 1])
    const again = splitHistory({ ...split.history, messages: done.messages })
    expect(again.items.map(({ kind }) => kind)).toEqual(['pinned', 'summary', 'interaction'])
    expect(again.interactions[0]?.index).toBe(2)
  })
})
