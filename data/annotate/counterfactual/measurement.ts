/** What was measured for one action: log-probabilities of its first tokens behind each target and each placebo. */

export interface MeasuredTarget {
  /** i. */
  readonly interaction: number
  /** Nats, summed over the action's tokens. */
  readonly logProbability: number
}

export interface MeasuredPlacebo extends MeasuredTarget {
  /** Run that it was taken from. */
  readonly trajectory: string
}

/** See PlannedStratum. */
export interface MeasuredStratum {
  readonly without: number | null
  readonly lengthClass: number
  readonly targets: readonly MeasuredTarget[]
  readonly placebos: readonly MeasuredPlacebo[]
}

export interface ActionMeasurement {
  readonly trajectory: string
  /** j. */
  readonly action: number
  /** Tokens whose probability was summed. */
  readonly actionTokens: number
  readonly strata: readonly MeasuredStratum[]
}
