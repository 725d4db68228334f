/**
 * What an annotation will cost, before anything is sent: stage 1 exactly, stage 2 and repairs as bounds. Pure.
 */
import { type CallLimits, promptBudget, RECORD_TOKENS, stageTwoOutputTokens } from './limits.ts'
import type { RunPlan } from './plan-run.ts'
import { costOf, type Prices } from './prices.ts'
import { PROMPTS } from './prompts/prompts.ts'
import { buildStageOne } from './stage-one-request.ts'

export interface CallEstimate {
  readonly calls: number
  readonly promptTokens: number
  /** What answers of the usual length come to. */
  readonly likelyOutputTokens: number
  /** calls x the limit of an answer. */
  readonly mostOutputTokens: number
}

export interface AnnotationEstimate {
  readonly runs: number
  /** Runs of fewer than 3 interactions, or too long to be clipped into the context: nothing is asked about them. */
  readonly runsWithoutCalls: number
  readonly checkpoints: number
  /** Pairs (i, c): one record each. */
  readonly records: number
  /** Exact: calls, and prompt tokens by the counting tokenizer. */
  readonly stageOne: CallEstimate
  /** Stage-1 calls whose answer is in the journal already; they cost nothing. */
  readonly answered: number
  /** At most: an interaction for which READY was nowhere proposed needs no stage 2. */
  readonly stageTwo: CallEstimate
  /** At most: one repair for each call. */
  readonly repairs: CallEstimate
  /** US dollars, without what the journal holds; null without prices. */
  readonly cost: { readonly likelyUsd: number; readonly mostUsd: number } | null
}

/** Tokens of a stage-2 verdict and of one record as stage 2 reads it. Assumptions. */
const VERDICT_TOKENS = 300
const RECORD_LINE_TOKENS = 120
const REPAIR_PROMPT_TOKENS = 400

export interface EstimateOptions {
  readonly limits: CallLimits
  readonly prices: Prices | null
  /** Whether the journal holds the answer to a stage-1 request. */
  readonly isAnswered: (request: ReturnType<typeof buildStageOne>) => boolean
}

/** Grows run by run, so that a caller can show progress and stop. */
export interface Estimator {
  add(plan: RunPlan): void
  result(): AnnotationEstimate
}

export function createEstimator(options: EstimateOptions): Estimator {
  const { limits, prices, isAnswered } = options
  const one = { calls: 0, promptTokens: 0, records: 0 }
  /** Without those the journal has. */
  const open = { calls: 0, promptTokens: 0, records: 0 }
  const two = { calls: 0, promptTokens: 0 }
  let runs = 0
  let runsWithoutCalls = 0
  let checkpoints = 0

  return {
    add(plan) {
      runs += 1
      checkpoints += plan.checkpoints.length
      const { layout } = plan
      if (layout === null) {
        runsWithoutCalls += 1
        return
      }
      for (const call of plan.calls) {
        const built = buildStageOne(layout, { ...call, limits })
        const counted = isAnswered(built) ? [one] : [one, open]
        for (const sums of counted) {
          sums.calls += 1
          sums.promptTokens += built.promptTokens
          sums.records += call.targets.length
        }
      }
      two.calls += plan.targets.length
      two.promptTokens += stageTwoPromptBound(plan, limits)
    },
    result() {
      const stageOne = stageOneOf(one, limits)
      const remaining = stageOneOf(open, limits)
      const stageTwo: CallEstimate = {
        ...two,
        likelyOutputTokens: two.calls * VERDICT_TOKENS,
        mostOutputTokens: two.calls * stageTwoOutputTokens(limits),
      }
      const repairs = repairsOf(stageOne, stageTwo)
      return {
        runs,
        runsWithoutCalls,
        checkpoints,
        records: one.records,
        stageOne,
        answered: one.calls - open.calls,
        stageTwo,
        repairs,
        cost: prices === null ? null : costOfAll(prices, { one: remaining, two: stageTwo }),
      }
    },
  }
}

function stageOneOf(
  sums: { readonly calls: number; readonly promptTokens: number; readonly records: number },
  limits: CallLimits,
): CallEstimate {
  return {
    calls: sums.calls,
    promptTokens: sums.promptTokens,
    likelyOutputTokens: Math.min(sums.records * RECORD_TOKENS, sums.calls * limits.maxOutputTokens),
    mostOutputTokens: sums.calls * limits.maxOutputTokens,
  }
}

/** Every call again, with its longest answer in the prompt. */
function repairsOf(one: CallEstimate, two: CallEstimate): CallEstimate {
  const calls = one.calls + two.calls
  const output = one.mostOutputTokens + two.mostOutputTokens
  return {
    calls,
    promptTokens: one.promptTokens + two.promptTokens + output + calls * REPAIR_PROMPT_TOKENS,
    likelyOutputTokens: 0,
    mostOutputTokens: output,
  }
}

function costOfAll(
  prices: Prices,
  { one, two }: { readonly one: CallEstimate; readonly two: CallEstimate },
): NonNullable<AnnotationEstimate['cost']> {
  const usd = (promptTokens: number, outputTokens: number): number =>
    costOf({ promptTokens, cachedTokens: 0, outputTokens }, prices)
  const repairs = repairsOf(one, two)
  return {
    likelyUsd: usd(one.promptTokens + two.promptTokens, one.likelyOutputTokens + two.likelyOutputTokens),
    mostUsd:
      usd(one.promptTokens + two.promptTokens, one.mostOutputTokens + two.mostOutputTokens) +
      usd(repairs.promptTokens, repairs.mostOutputTokens),
  }
}

/** A stage-2 prompt holds at most the run once, the head, and a line for each checkpoint after the target. */
function stageTwoPromptBound(plan: RunPlan, limits: CallLimits): number {
  const { layout } = plan
  if (layout === null) return 0
  const instructions = layout.writer.count(PROMPTS.stageTwo)
  const text = layout.parts.reduce((sum, part) => sum + Math.max(part.block.tokens, part.detail?.tokens ?? 0), 0)
  const most = promptBudget(limits)
  return plan.targets.reduce((sum, target) => {
    const lines = plan.checkpoints.filter((checkpoint) => checkpoint >= target + 2).length
    return sum + Math.min(most, instructions + layout.head.tokens + text + lines * RECORD_LINE_TOKENS)
  }, 0)
}
