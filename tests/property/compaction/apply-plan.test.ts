import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { applyPlan } from '../../../src/compaction/apply-plan.ts'
import { summariseExtractively } from '../../../src/compaction/extractive-summary.ts'
import type { Compaction } from '../../../src/compaction/plan.ts'
import { type PlanLimits, planCompaction, summaryBudget } from '../../../src/compaction/plan-compaction.ts'
import {
  escapeSummary,
  recogniseSummary,
  recogniseSummaryText,
  renderSummaryText,
  unescapeSummary,
} from '../../../src/compaction/summary-message.ts'
import type { JsonValue, SplitHistory } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { readSegments } from '../../../src/protocol/read-segments.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import type { ThinkingBinding } from '../../../src/protocol/thinking-binding.ts'
import { blockingViolations, validateHistory } from '../../../src/protocol/validate-history.ts'
import { findSpans } from '../../../src/router/find-spans.ts'
import { anyHistory, validHistory } from '../protocol/arbitrary-history.ts'
import type { GivenHistory } from '../protocol/given-history.ts'

const countTokens = (text: string): number => Math.ceil(text.length / 4)
const LIMITS: PlanLimits = { minSpanInteractions: 0, minSourceTokens: 1 }

const readySet = fc.uniqueArray(fc.nat({ max: 14 })).map((indices) => new Set(indices))
const limits = fc.record({ minSpanInteractions: fc.nat({ max: 4 }), minSourceTokens: fc.nat({ max: 400 }) })

function compact(
  split: SplitHistory,
  ready: ReadonlySet<number>,
  planLimits: PlanLimits,
  thinkingBinding: ThinkingBinding = 'auto',
): Compaction | null {
  if (!split.interactions.some(({ state }) => state === 'answered')) return null
  const plan = planCompaction({ split, ready, limits: planLimits, countTokens })
  const summaries = new Map(
    plan.spans.map((span) => {
      const maxTokens = summaryBudget(span.sourceTokens, planLimits)
      return [span.start, summariseExtractively({ split, span, maxTokens, countTokens })]
    }),
  )
  return applyPlan({ split, plan, summaries, countTokens, thinkingBinding })
}

const splitOf = ({ text, format }: GivenHistory): SplitHistory => splitHistory(parseHistory(text, format))

describe('findSpans', () => {
  test.prop([anyHistory, readySet])(
    'gives disjoint runs of eligible READY interactions, as long as they can be',
    (given, ready) => {
      const split = splitOf(given)
      const eligible = new Map(split.interactions.map(({ index, ineligible }) => [index, ineligible === null]))
      let last = -1
      for (const { start, end } of findSpans(split, ready)) {
        expect(start).toBeGreaterThan(last)
        for (let index = start; index < end; index++) expect(ready.has(index) && eligible.get(index)).toBe(true)
        last = end - 1
      }
    },
  )

  test.prop([anyHistory, readySet, limits])(
    'leaves at most floor(N / (kappa + 1)) accepted spans',
    (given, ready, planLimits) => {
      const split = splitOf(given)
      if (!split.interactions.some(({ state }) => state === 'answered')) return
      const { spans } = planCompaction({ split, ready, limits: planLimits, countTokens })
      const most = Math.floor(split.interactions.length / (planLimits.minSpanInteractions + 1))
      expect(spans.filter(({ accepted }) => accepted).length).toBeLessThanOrEqual(most)
    },
  )
})

describe('a compaction', () => {
  test.prop([anyHistory, readySet])(
    'of any history is valid for its provider and shorter, or the old one',
    (given, ready) => {
      const split = splitOf(given)
      const done = compact(split, ready, LIMITS)
      if (done === null) return
      if (done.outcome !== 'applied') {
        expect(done.reason).not.toBeNull()
        expect(renderMessages(done.messages)).toBe(`[${given.messages.join(',')}]`)
        return
      }
      expect(blockingViolations(validateHistory({ ...split.history, messages: done.messages }))).toEqual([])
      expect(done.tokens.after).toBeLessThan(done.tokens.before)
    },
  )

  test.prop([validHistory, readySet], { numRuns: 200 })(
    'of a valid history never fails, and keeps user text verbatim and in order',
    (given, ready) => {
      const split = splitOf(given)
      const done = compact(split, ready, LIMITS)
      if (done === null) return
      expect(['applied', 'noop']).toContain(done.outcome)
      const out = renderMessages(done.messages)
      let from = 0
      for (const userText of given.userTexts) {
        const at = out.indexOf(JSON.stringify(userText), from)
        expect(at).toBeGreaterThanOrEqual(from)
        from = at + 1
      }
    },
  )

  test.prop([validHistory, readySet])(
    'leaves every message outside the spans as the same bytes, in order',
    (given, ready) => {
      const split = splitOf(given)
      const done = compact(split, ready, LIMITS)
      if (done === null || done.outcome !== 'applied') return
      let from = 0
      done.messages.forEach((message, number) => {
        const at = given.messages.indexOf(message.raw, from)
        if (at >= 0) {
          from = at + 1
          return
        }
        // Either a summary, or a user message whose results went and whose text stayed, block by block.
        const segments = readSegments(split.history, message, number)
        if (recogniseSummary(segments) !== null) return
        expect(segments.map(({ kind }) => kind)).not.toContain('result')
        const blocks = message.blocks ?? []
        const source = given.messages.findIndex(
          (text, place) => place >= from && blocks.every(({ raw }) => text.includes(raw)),
        )
        expect(source).toBeGreaterThanOrEqual(from)
        from = source + 1
      })
    },
  )

  test.prop([validHistory, readySet])(
    'keeps canonical numbers, and planning again finds nothing new in what it made',
    (given, ready) => {
      const split = splitOf(given)
      const done = compact(split, ready, LIMITS)
      if (done === null || done.outcome !== 'applied') return
      const again = splitHistory({ ...split.history, messages: done.messages })
      const survivors = new Map(split.trajectory.interactions.map((interaction) => [interaction.index, interaction]))
      for (const { index, text, toolCalls, observations } of again.trajectory.interactions)
        expect(survivors.get(index)).toMatchObject({ text, toolCalls, observations })
      const gone = done.spans.filter(({ accepted }) => accepted)
      expect(again.interactions.length).toBe(
        split.interactions.length - gone.reduce((total, { start, end }) => total + end - start, 0),
      )
    },
  )

  test.prop([validHistory, readySet])(
    'with prefix binding leaves no bound thinking behind the first summary, and every other byte as without it',
    (given, ready) => {
      const split = splitOf(given)
      const free = compact(split, ready, LIMITS, 'none')
      const bound = compact(split, ready, LIMITS, 'prefix')
      if (free === null || bound === null || free.outcome !== 'applied') return
      expect(bound.outcome).toBe('applied')
      const isThinking = (block: JsonValue): boolean =>
        /^.{0,3}"type":"(?:redacted_)?thinking"|"providerOptions"/.test(JSON.stringify(block))
      const first = bound.messages.findIndex(({ value }, number) => value !== split.history.messages[number]?.value)
      const behind = bound.messages.slice(first).flatMap(({ blocks }) => blocks ?? [])
      expect(behind.filter(({ value }) => isThinking(value))).toEqual([])
      const said = (done: Compaction): readonly string[] =>
        done.messages.flatMap(({ blocks, raw }) =>
          (blocks ?? [{ raw, value: raw }]).filter(({ value }) => !isThinking(value)).map((block) => block.raw),
        )
      expect(said(bound)).toEqual(said(free))
    },
  )

  test.prop([anyHistory, readySet, limits])('that does nothing does nothing again', (given, ready, planLimits) => {
    const split = splitOf(given)
    const first = compact(split, ready, planLimits)
    if (first === null || first.outcome === 'applied') return
    const second = compact(splitHistory({ ...split.history, messages: first.messages }), ready, planLimits)
    expect(second).toEqual(first)
  })
})

describe('the summary message', () => {
  const piece = fc.constantFrom(
    '<keepready-summary',
    '</keepready-summary>',
    '&lt;',
    '&amp;',
    'lt;',
    '<',
    '&',
    'x',
    '\n',
    'KeepReady-Summary',
    '/',
  )
  test.prop([fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))])(
    'gives any content back',
    (content) => {
      expect(unescapeSummary(escapeSummary(content))).toBe(content)
      const mark = { id: 'a', start: 0, end: 1 }
      expect(recogniseSummaryText(renderSummaryText(mark, content))).toEqual({ ...mark, content: content.trim() })
    },
  )
})
