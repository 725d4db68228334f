/**
 * What an evaluation says of a router beyond ranking: threshold policies, delays, margins, single runs. Plain JSON.
 * Decisions of different rotations may be counted together, each at its own threshold; their scores may not be ranked.
 */
import type { Interval } from '../../src/metrics/bootstrap.ts'
import type { MarginStability } from '../../src/metrics/margin-stability.ts'
import type { ThresholdPolicy } from '../../src/router/threshold-policies.ts'

/** Rates of pairs that count once each; null where a denominator is 0 in every rotation. */
export interface PolicyRates {
  readonly precision: number | null
  readonly recall: number | null
  readonly f1: number | null
  readonly falsePositiveRate: number | null
  readonly selectedShare: number | null
}

export interface ShiftedRates {
  /** Added to each rotation's threshold, in logits; 0 = as chosen. */
  readonly shift: number
  /** Means over rotations on the test pairs. */
  readonly rates: PolicyRates
}

export interface PolicyRecord extends ThresholdPolicy {
  /** E.g. `precision >= 0.8`. */
  readonly label: string
  /** Per rotation, chosen on half of its validation groups; null: no threshold does what the policy asks. */
  readonly tauLogits: readonly (number | null)[]
  readonly taus: readonly (number | null)[]
  /** Means over rotations on headline pairs: the half it was chosen on, then the test part. */
  readonly validation: PolicyRates
  readonly test: PolicyRates
  /**
   * What the policy aims at: precision, F_beta, cost per pair (lower is better), null for `fixed`. Optimism = how much better
   * validation looks than test: above 0 the threshold does not hold what it promised. Over rotations that have a threshold.
   */
  readonly objective: {
    readonly name: string
    readonly validation: number | null
    readonly test: number | null
    readonly optimism: number | null
  } | null
  /** Shifts rise. */
  readonly sensitivity: readonly ShiftedRates[]
}

export interface DelayRecord {
  /** Interactions that become READY at a checkpoint shown, and how many of them are ever called READY. */
  readonly becomeReady: number
  readonly caught: number
  /** Interactions ever called READY, and how many of them before their boundary or without one. */
  readonly called: number
  readonly premature: number
  readonly prematureWithoutBoundary: number
  /**
   * First call minus boundary in checkpoints, over the caught that were not premature (`delay`), over all that become READY
   * (`delayOrNever`; null = never called; a premature call counts 0), and boundary minus first call of the premature that
   * have a boundary (`lead`). Null in a column without interactions.
   */
  readonly quantiles: readonly {
    readonly level: number
    readonly delay: number | null
    readonly delayOrNever: number | null
    readonly lead: number | null
  }[]
  /** Interactions by first call minus boundary: below 0 = premature by so many; the outer two hold everything beyond. */
  readonly histogram: readonly { readonly delay: number; readonly interactions: number }[]
}

export interface OperatingPointDelays extends DelayRecord {
  readonly operatingPoint: string
}

export interface MeasuredPerturbation extends MarginStability {
  readonly name: string
  /** One line: what A and B are. */
  readonly description: string
}

/** Distance of decisions from the other side (paper B.3, C.2), headline pairs of all rotations, each at its threshold. */
export interface MarginRecord {
  readonly operatingPoint: string
  readonly pairs: number
  readonly ready: number
  /** Quantiles of |logit - tau| in logits, over all decisions, the READY and the KEEP ones. */
  readonly quantiles: readonly {
    readonly level: number
    readonly all: number | null
    readonly ready: number | null
    readonly keep: number | null
  }[]
  /** Share of decisions with |logit - tau| > perturbation: these keep their side under ANY change of that size. */
  readonly kept: readonly {
    readonly perturbation: number
    readonly all: number | null
    readonly ready: number | null
    readonly keep: number | null
  }[]
  readonly measured: readonly MeasuredPerturbation[]
}

export interface RouterStudy {
  readonly policies: readonly PolicyRecord[]
  /** Headline pairs, per operating point of the artefact. */
  readonly delays: readonly OperatingPointDelays[]
  /** At the default operating point, or the next one that has a threshold in some rotation; null where none has. */
  readonly margins: MarginRecord | null
}

/** One held-out run of the served router: what it says of each interaction at each checkpoint, and what is true. */
export interface StripRecord {
  readonly rank: 'best' | 'worst'
  readonly run: string
  readonly domain: string
  readonly rotation: number
  /** N */
  readonly length: number
  readonly pairs: number
  readonly withinAuroc: number
  /** Default operating point of the rotation, as probability; null: never READY. */
  readonly tau: number | null
  /** Rows and columns of the strip; long runs are thinned evenly, `thinned` says so. */
  readonly interactions: readonly number[]
  readonly checkpoints: readonly number[]
  readonly thinned: boolean
  /** (interactions) b_i, null = never READY. */
  readonly boundaries: readonly (number | null)[]
  /** (interactions, checkpoints) p and label; null where there is no such pair. */
  readonly p: readonly (readonly (number | null)[])[]
  readonly labels: readonly (readonly (0 | 1 | null)[])[]
}

/** A number over the runs of all rotations together: each run or decision counts once, whatever rotation tested it. */
export interface PooledEstimate {
  readonly value: number | null
  readonly interval: Interval | null
}
