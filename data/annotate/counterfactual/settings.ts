/** What a counterfactual annotation is measured with. */

export interface CounterfactualSettings {
  /** Token budgets of a view: [head][recent][S_i or placebo][action]. */
  readonly headTokens: number
  readonly recentTokens: number
  readonly targetTokens: number
  /** Tokens of the action whose probability counts, from its start. */
  readonly actionTokens: number
  /** Interactions before the action that every view holds. */
  readonly recentInteractions: number
  /** Actions of a longer run that are measured, evenly spread. */
  readonly maxActionsPerRun: number
  /** Placebos of each stratum: targets of one action that stand behind the same context and are of like length. */
  readonly placebos: number
  readonly seed: number
}

/** Budgets as in the measurement that asked for placebos (reference/feasibility.md); the counts are assumptions. */
export const DEFAULT_COUNTERFACTUAL: CounterfactualSettings = {
  headTokens: 256,
  recentTokens: 400,
  targetTokens: 200,
  actionTokens: 72,
  recentInteractions: 2,
  maxActionsPerRun: 12,
  placebos: 4,
  seed: 0,
}

/** S_i mattered where its gain exceeds this share of the placebos' gains. */
export const DEFAULT_QUANTILE = 0.95
