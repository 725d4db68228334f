/**
 * Random histories of every provider, valid and broken, under random READY masks and every policy, repaired first or not:
 * 10,000 here, 100,000 in `npm run test:long`.
 */
import { fc, test } from '@fast-check/vitest'
import { afterAll, describe, expect } from 'vitest'
import { applyPlan } from '../../../src/compaction/apply-plan.ts'
import { type CutPolicy, readyByPolicy } from '../../../src/compaction/cut-policy.ts'
import { summarisePlan } from '../../../src/compaction/extractive-summary.ts'
import type { Compaction } from '../../../src/compaction/plan.ts'
import { planCompaction } from '../../../src/compaction/plan-compaction.ts'
import { HISTORY_FORMATS, type SplitHistory } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { repairHistory } from '../../../src/protocol/repair/repair-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import { blockingViolations, validateHistory } from '../../../src/protocol/validate-history.ts'
import { ARBITRARY_FORMATS } from '../protocol/arbitrary-history.ts'

const countTokens = (text: string): number => Math.ceil(text.length / 4)
const isLong = (fc.readConfigureGlobal()?.numRuns ?? 0) >= 1000
const RUNS_PER_FORMAT = isLong ? 20_000 : 2_000

const policy: fc.Arbitrary<CutPolicy | ReadonlySet<number>> = fc.oneof(
  fc.uniqueArray(fc.nat({ max: 14 })).map((indices) => new Set(indices)),
  fc.nat({ max: 20 }).map((count): CutPolicy => ({ kind: 'keep-last-messages', count })),
  fc.nat({ max: 8 }).map((count): CutPolicy => ({ kind: 'keep-last-interactions', count })),
  fc.nat({ max: 20 }).map((maxMessages): CutPolicy => ({ kind: 'drop-oldest-until', maxMessages })),
  fc.constant<CutPolicy>({ kind: 'cut-at-user-message' }),
)
const call = fc.record({
  policy,
  repair: fc.boolean(),
  newestEligible: fc.boolean(),
  thinkingBinding: fc.constantFrom('none', 'prefix', 'auto'),
})
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never

function compact(split: SplitHistory, { policy: wanted, thinkingBinding }: Call): Compaction | null {
  if (!split.interactions.some(({ state }) => state === 'answered')) return null
  const ready = wanted instanceof Set ? wanted : readyByPolicy(split, wanted as CutPolicy)
  const plan = planCompaction({ split, ready, limits: { minSpanInteractions: 0, minSourceTokens: 1 }, countTokens })
  const summaries = summarisePlan({ split, plan, countTokens })
  return applyPlan({ split, plan, summaries, countTokens, thinkingBinding })
}

function expectInOrder(text: string, wanted: readonly string[]): void {
  let from = 0
  for (const said of wanted) {
    const at = text.indexOf(JSON.stringify(said), from)
    expect(at, `${JSON.stringify(said)} is there, in order`).toBeGreaterThanOrEqual(from)
    from = at + 1
  }
}

describe.each(HISTORY_FORMATS)('%s', (format) => {
  const tried = { histories: 0, applied: 0 }
  const { any, valid } = ARBITRARY_FORMATS[format]

  test.prop([fc.oneof(any, valid), call], { numRuns: RUNS_PER_FORMAT })(
    'what comes back is valid and shorter, or the old history, and the words of the user stay',
    (given, asked) => {
      tried.histories += 1
      const parsed = parseHistory(given.text, format)
      const repaired = asked.repair ? repairHistory(parsed) : null
      const history = repaired?.history ?? parsed
      const options = { newestEligible: asked.newestEligible }
      const done = compact(splitHistory(history, options), asked)
      const messages = done?.messages ?? history.messages
      expectInOrder(renderMessages(messages), given.userTexts)
      if (done === null) return
      if (done.outcome !== 'applied') {
        expect(done.messages).toBe(history.messages)
        expect(done.reason).not.toBeNull()
        if (repaired !== null && done.reason === 'input-invalid')
          expect(repaired.remaining).toEqual(expect.arrayContaining([...(done.violations ?? [])]))
        return
      }
      tried.applied += 1
      const result = { ...history, messages }
      expect(blockingViolations(validateHistory(result))).toEqual([])
      expect(done.tokens.after).toBeLessThan(done.tokens.before)
      const again = compact(splitHistory(result, options), { ...asked, policy: new Set(replaced(done)) })
      expect(again?.outcome ?? 'noop').not.toBe('applied')
    },
    600_000,
  )

  afterAll(() => {
    process.stdout.write(`${format}: ${tried.histories} histories, ${tried.applied} of them compacted\n`)
    expect(tried.applied).toBeGreaterThan(RUNS_PER_FORMAT / 20)
  })
})

function replaced(done: Compaction): readonly number[] {
  return done.spans.flatMap(({ start, end, accepted }) =>
    accepted ? Array.from({ length: end - start }, (_, step) => start + step) : [],
  )
}
