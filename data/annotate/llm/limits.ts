/**
 * How much one call may hold. Pure.
 */
import { AppError } from '../../../src/errors.ts'

export interface CallLimits {
  /** Prompt and answer together, as the model allows. */
  readonly contextTokens: number
  readonly maxOutputTokens: number
}

/** Assumption: what most hosted models take; an answer of it holds a record for some 30 targets. */
export const DEFAULT_LIMITS: CallLimits = { contextTokens: 128_000, maxOutputTokens: 8_192 }

/** Tokens of one stage-1 record: 15 + 15 + 20 words, quotes, names. Assumption: half of it is head room. */
export const RECORD_TOKENS = 260

/** Our count against the server's: other tokenizers, chat template. Assumption. */
const COUNT_MARGIN = 0.05
const TEMPLATE_TOKENS = 64

/** Least room for history that makes sense. Assumption: a few interactions, clipped. */
const MIN_PROMPT_TOKENS = 2_000

/**
 * Tokens a prompt may have, so that it, its answer and the repair of that answer fit.
 * @throws option-invalid when that leaves no room
 */
export function promptBudget(limits: CallLimits): number {
  const room = limits.contextTokens - 2 * limits.maxOutputTokens - TEMPLATE_TOKENS
  const budget = Math.floor(room / (1 + COUNT_MARGIN))
  if (budget >= MIN_PROMPT_TOKENS) return budget
  throw new AppError(
    'option-invalid',
    `a context of ${limits.contextTokens} tokens with answers of up to ${limits.maxOutputTokens} leaves ${budget} tokens ` +
      `for the prompt (two answers must fit, for the repair round), less than ${MIN_PROMPT_TOKENS}: ` +
      'raise --context-tokens or lower --max-output-tokens',
  )
}

/** What a server may count where we count `promptTokens`. */
export function mostTokens(promptTokens: number): number {
  return Math.ceil(promptTokens * (1 + COUNT_MARGIN)) + TEMPLATE_TOKENS
}

/** Records that one answer has room for. */
export function recordsPerCall(limits: CallLimits): number {
  return Math.max(1, Math.floor(limits.maxOutputTokens / RECORD_TOKENS))
}

/** Stage-2 answers are short. Assumption: 4,096 tokens hold them with the reasoning of a small reasoning model. */
export function stageTwoOutputTokens(limits: CallLimits): number {
  return Math.min(limits.maxOutputTokens, 4_096)
}
