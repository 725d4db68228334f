/**
 * Section budgets that can never exceed the view, whatever the recipe and the model say. Pure.
 */
import { AppError } from '../errors.ts'
import type { ViewBudgets } from './recipe.ts'

/** Fewer tokens than this cannot hold four sections. */
const MIN_SECTION_TOKENS = 16

export interface SectionBudgets {
  readonly head: number
  readonly recent: number
  readonly state: number
  readonly target: number
}

/**
 * The recipe's section budgets, scaled down in proportion where together with the readout lines they exceed
 * min(budgets.view, contextLength). Every view is made of each section at most once, so it stays within.
 *   readoutTokens  tokens of both readout lines with the model's tokenizer
 *   prefixTokens   tokens that every view starts with (BOS)
 * @throws option-invalid (a budget is no positive integer, or the lines exceed budgets.readout), context-too-short
 */
export function fitBudgets(input: {
  readonly budgets: ViewBudgets
  readonly contextLength: number
  readonly readoutTokens: number
  readonly prefixTokens: number
}): SectionBudgets {
  const { budgets, contextLength, readoutTokens, prefixTokens } = input
  for (const [name, value] of Object.entries(budgets)) {
    if (!Number.isSafeInteger(value) || value <= 0)
      throw new AppError('option-invalid', `the view budget "${name}" is ${value}: it must be a positive whole number`)
  }
  if (readoutTokens > budgets.readout)
    throw new AppError(
      'option-invalid',
      `the two readout lines take ${readoutTokens} tokens with this tokenizer, the readout budget is ${budgets.readout}: raise it`,
    )
  const { head, recent, state, target } = budgets
  const limit = Math.min(budgets.view, contextLength)
  const available = limit - readoutTokens - prefixTokens
  if (available < MIN_SECTION_TOKENS)
    throw new AppError(
      'context-too-short',
      `a view may have ${limit} tokens (budget ${budgets.view}, model context ${contextLength}), its readout lines and BOS take ${readoutTokens + prefixTokens}: at least ${MIN_SECTION_TOKENS} more are needed; raise the view budget or take another model`,
    )
  const wanted = head + recent + state + target
  const scaled = (tokens: number): number => (wanted <= available ? tokens : Math.floor((tokens * available) / wanted))
  return { head: scaled(head), recent: scaled(recent), state: scaled(state), target: scaled(target) }
}
