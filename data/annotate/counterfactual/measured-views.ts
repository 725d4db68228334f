/**
 * The parts of a measured view as tokens: [head][recent] shared by all targets of an action, one interaction, the action.
 * Sections are those of every bounded view (src/view/layout.ts), each encoded on its own.
 */
import { AppError } from '../../../src/errors.ts'
import { actionText } from '../../../src/trajectory/interaction-text.ts'
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'
import { headBlocks, interactionBlocks, recentBlocks } from '../../../src/view/layout.ts'
import { concatTokens, renderSection } from '../../../src/view/section.ts'
import type { ViewEncoder } from '../../../src/view/view-encoder.ts'
import type { CounterfactualSettings } from './settings.ts'

/** Room for BOS and the action's label. */
const LABEL_TOKENS = 64

export interface MeasuredAction {
  /** Label, then the first tokens of the action. */
  readonly tokens: Int32Array
  /** Where the action starts in `tokens`. */
  readonly from: number
}

/** @throws context-too-short where the budgets together exceed the model's context */
export function requireRoom(settings: CounterfactualSettings, contextLength: number): void {
  const { headTokens, recentTokens, targetTokens, actionTokens } = settings
  const needed = headTokens + recentTokens + targetTokens + actionTokens + LABEL_TOKENS
  if (needed <= contextLength) return
  throw new AppError(
    'context-too-short',
    `a view of ${needed} tokens (head ${headTokens}, recent ${recentTokens}, target ${targetTokens}, action ${actionTokens}, labels ${LABEL_TOKENS}) exceeds the model's context of ${contextLength}: lower --target-tokens or --action-tokens, or take another model`,
    { details: { tokens: needed, limit: contextLength } },
  )
}

/** S_i or a placebo: at most targetTokens. */
export function targetTokens(
  encoder: ViewEncoder,
  interaction: Interaction,
  settings: CounterfactualSettings,
): Int32Array {
  return renderSection(encoder, interactionBlocks(interaction), settings.targetTokens).tokens
}

/**
 * What stands before the target: the task, then the last interactions before the action other than `without`, and the
 * turns between them.
 */
export function sharedTokens(
  encoder: ViewEncoder,
  view: { readonly run: Trajectory; readonly action: Interaction; readonly without: Interaction | null },
  settings: CounterfactualSettings,
): Int32Array {
  const { run, action, without } = view
  const before = run.interactions.filter((other) => other.index < action.index && other !== without)
  // The newest of a prefix is not among its recent interactions: here it is the action.
  const recent = recentBlocks({ ...run, interactions: [...before, action] }, settings.recentInteractions)
  return concatTokens([
    encoder.tokenizer.prefixIds,
    renderSection(encoder, headBlocks(run), settings.headTokens).tokens,
    renderSection(encoder, recent, settings.recentTokens).tokens,
  ])
}

/** The action's first tokens behind its label; neither reasoning nor observation. */
export function measuredAction(
  encoder: ViewEncoder,
  action: Interaction,
  settings: CounterfactualSettings,
): MeasuredAction {
  const [block] = interactionBlocks({ ...action, reasoning: '', observations: [] })
  const label = encoder.encode(block?.label ?? '\n').head
  const body = encoder.encode(actionText(action)).head.subarray(0, settings.actionTokens)
  return { tokens: concatTokens([label, body]), from: label.length }
}
