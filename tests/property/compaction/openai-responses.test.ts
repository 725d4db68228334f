/**
 * What the Responses API binds together stays together in every compaction (R1-R3): the fault of case 11, an item that is
 * sent with its id while its reasoning is gone, cannot be made.
 */
import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { applyPlan } from '../../../src/compaction/apply-plan.ts'
import { summariseExtractively } from '../../../src/compaction/extractive-summary.ts'
import type { Compaction } from '../../../src/compaction/plan.ts'
import { type PlanLimits, planCompaction, summaryBudget } from '../../../src/compaction/plan-compaction.ts'
import type { HistoryMessage, SplitHistory } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import { validateHistory } from '../../../src/protocol/validate-history.ts'
import { arbitraryOpenAiResponses, chainedResponses } from '../protocol/arbitrary-openai-responses.ts'
import type { GivenHistory } from '../protocol/given-history.ts'

const countTokens = (text: string): number => Math.ceil(text.length / 4)
const LIMITS: PlanLimits = { minSpanInteractions: 0, minSourceTokens: 1 }

const readySet = fc.uniqueArray(fc.nat({ max: 14 })).map((indices) => new Set(indices))

function compact(
  { text, format }: GivenHistory,
  ready: ReadonlySet<number>,
): { split: SplitHistory; done: Compaction } {
  const split = splitHistory(parseHistory(text, format))
  fc.pre(split.interactions.some(({ state }) => state === 'answered'))
  const plan = planCompaction({ split, ready, limits: LIMITS, countTokens })
  const summaries = new Map(
    plan.spans.map((span) => {
      const maxTokens = summaryBudget(span.sourceTokens, LIMITS)
      return [span.start, summariseExtractively({ split, span, maxTokens, countTokens })]
    }),
  )
  return { split, done: applyPlan({ split, plan, summaries, countTokens }) }
}

const isGenerated = ({ role, value }: HistoryMessage): boolean =>
  role === 'assistant' && !String(value.type).startsWith('compaction')

/** Runs of neighbouring items that the model made, as their texts; compactions between them count as nothing. */
function runsOf(messages: readonly HistoryMessage[]): readonly string[] {
  const runs: string[][] = [[]]
  for (const message of messages) {
    if (isGenerated(message)) runs.at(-1)?.push(message.raw)
    else if (message.role !== 'assistant') runs.push([])
  }
  return runs.filter((run) => run.length > 0).map((run) => run.join())
}

const typesOf = (messages: readonly HistoryMessage[], kind: RegExp): readonly string[] =>
  messages.filter(({ value }) => kind.test(String(value.type))).map(({ raw }) => raw)

describe('a compaction of Responses items', () => {
  test.prop([arbitraryOpenAiResponses.any, readySet], { numRuns: 150 })(
    'keeps each run of reasoning, messages and calls whole, or takes all of it',
    (given, ready) => {
      const { split, done } = compact(given, ready)
      const before = new Set(runsOf(split.history.messages))
      for (const run of runsOf(done.messages)) expect(before.has(run)).toBe(true)
    },
  )

  test.prop([arbitraryOpenAiResponses.any, readySet], { numRuns: 150 })(
    'breaks no rule, advisory ones included, that the history did not break',
    (given, ready) => {
      const { split, done } = compact(given, ready)
      const known = new Set(validateHistory(split.history).map(({ rule }) => rule))
      const after = validateHistory({ ...split.history, messages: done.messages })
      expect(after.filter(({ rule }) => !known.has(rule))).toEqual([])
    },
  )

  test.prop([arbitraryOpenAiResponses.valid, readySet], { numRuns: 150 })(
    'of a valid list leaves no call without its output and no output without its call',
    (given, ready) => {
      const { done } = compact(given, ready)
      expect(['applied', 'noop']).toContain(done.outcome)
      const ids = (kind: RegExp): readonly unknown[] =>
        done.messages.filter(({ value }) => kind.test(String(value.type))).map(({ value }) => value.call_id)
      const called = ids(/^(function|custom_tool|shell)_call$/)
      const answered = ids(/_output$/)
      expect([...answered].sort()).toEqual([...called].sort())
    },
  )

  test.prop([arbitraryOpenAiResponses.any, readySet], { numRuns: 150 })(
    'keeps compactions and references where they are, byte for byte',
    (given, ready) => {
      const { split, done } = compact(given, ready)
      const kind = /^(compaction|item_reference)$/
      expect(typesOf(done.messages, kind)).toEqual(typesOf(split.history.messages, kind))
    },
  )

  test.prop([chainedResponses, readySet])(
    'prunes nothing from a list that goes on from a stored response',
    (given, ready) => {
      const { split, done } = compact(given, ready)
      expect(done.outcome).toBe('noop')
      expect(split.interactions.every(({ ineligible }) => ineligible !== null)).toBe(true)
    },
  )
})
