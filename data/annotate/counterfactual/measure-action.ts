/**
 * One action measured: each context is read once, then every target and placebo behind it with the action's tokens, in a
 * run of its own, as targets behind a shared part are when hidden states are extracted.
 */

import type { TokenScorer } from '../../../models/frozen-lm/head/token-scorer.ts'
import type { StateHandle } from '../../../models/frozen-lm/port.ts'
import { concatTokens } from '../../../src/view/section.ts'
import type { ViewEncoder } from '../../../src/view/view-encoder.ts'
import { type MeasuredAction, measuredAction, sharedTokens } from './measured-views.ts'
import type { ActionMeasurement, MeasuredStratum } from './measurement.ts'
import type { PoolEntry } from './placebo-pool.ts'
import type { ActionPlan } from './plan-actions.ts'
import type { CounterfactualSettings } from './settings.ts'

export interface MeasuringTools {
  readonly scorer: TokenScorer
  readonly encoder: ViewEncoder
  readonly settings: CounterfactualSettings
  readonly signal: AbortSignal
  /** Told after every run of the model. */
  readonly onTokens: (tokens: number) => void
}

/** @throws interrupted, and what the scorer throws; no state is left behind */
export async function measureAction(plan: ActionPlan, tools: MeasuringTools): Promise<ActionMeasurement> {
  const { encoder, settings } = tools
  const action = measuredAction(encoder, plan.action, settings)
  const strata: MeasuredStratum[] = []
  const contexts = new Set(plan.strata.map(({ without }) => without))
  for (const without of contexts) {
    const shared = sharedTokens(encoder, { ...plan, without }, settings)
    const state = await withTurn(tools, shared.length, () => tools.scorer.read(shared, null))
    try {
      for (const stratum of plan.strata.filter((other) => other.without === without)) {
        const score = (entry: PoolEntry): Promise<number> => scoreBehind(tools, { state, action, entry })
        const targets = []
        for (const entry of stratum.targets)
          targets.push({ interaction: entry.interaction.index, logProbability: await score(entry) })
        const placebos = []
        for (const entry of stratum.placebos)
          placebos.push({
            trajectory: entry.run.id,
            interaction: entry.interaction.index,
            logProbability: await score(entry),
          })
        strata.push({ without: without?.index ?? null, lengthClass: stratum.lengthClass, targets, placebos })
      }
    } finally {
      tools.scorer.dispose(state)
    }
  }
  const actionTokens = action.tokens.length - action.from
  return { trajectory: plan.run.id, action: plan.action.index, actionTokens, strata }
}

async function scoreBehind(
  tools: MeasuringTools,
  run: { readonly state: StateHandle; readonly action: MeasuredAction; readonly entry: PoolEntry },
): Promise<number> {
  const { state, action, entry } = run
  const tokens = concatTokens([entry.tokens, action.tokens])
  const from = entry.tokens.length + action.from
  const scores = await withTurn(tools, tokens.length, () => tools.scorer.score(tokens, { past: state, from }))
  return scores.reduce((sum, score) => sum + score, 0)
}

/** A run of the model blocks the thread: signals get their turn between two. */
async function withTurn<T>(tools: MeasuringTools, tokens: number, run: () => Promise<T>): Promise<T> {
  await new Promise((resolve) => setImmediate(resolve))
  tools.signal.throwIfAborted()
  const result = await run()
  tools.onTokens(tokens)
  return result
}
