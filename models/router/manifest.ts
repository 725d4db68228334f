/**
 * What a router artefact says about itself (DESIGN section 11): router.json and rotations/<r>/<inputs>/rotation.json.
 * The server needs the served router only; evaluation reads the rotations' held-out predictions.
 */
import type { OperatingPointName, OperatingPoints } from '../../src/router/operating-points.ts'
import type { Representation } from '../frozen-lm/representation.ts'
import type { InputKind, RouterSpec } from './spec.ts'
import type { Standardisation } from './standardisation.ts'

/** Raised when older readers would misread the files. */
export const ROUTER_SCHEMA_VERSION = 1

/** Point estimates; intervals and baselines are `keepready evaluate`'s business. */
export interface SplitMetrics {
  readonly trajectories: number
  readonly pairs: number
  readonly positives: number
  /** Mean over trajectories with both classes; null if there is none. */
  readonly withinAuroc: number | null
  /** Trajectory-weighted, all pairs ranked together. */
  readonly prAuc: number | null
  /** Weighted loss of training, in nats. */
  readonly lossNats: number
}

export interface EpochRecord {
  /** From 1. */
  readonly epoch: number
  readonly trainLossNats: number
  readonly validationLossNats: number
  /** Trajectory-weighted; null if validation has one class only. */
  readonly validationPrAuc: number | null
}

/** Every value that decides how a router is trained, beside the data. */
export interface TrainConfig {
  readonly width: number
  readonly dropout: number
  readonly epochs: number
  /** Epochs without a better validation score before training stops. */
  readonly patience: number
  readonly learningRate: number
  readonly decay: number
  /** w(1); w(0) = 1. */
  readonly positiveWeight: number
  /** Standard deviation of standardised h, q and m; x has 1 (training/standardise.ts). */
  readonly hiddenScale: number
  /** Validation looks at pairs whose label could see at least this many later interactions (DESIGN section 9). */
  readonly minFuture: number
  readonly seed: number
}

/** Quantiles of what the router saw in training: the server warns when a history lies outside. */
export interface TrainingQuantiles {
  readonly levels: readonly number[]
  /** p of the training pairs. */
  readonly score: readonly number[]
  /** Interactions per trajectory. */
  readonly interactions: readonly number[]
  /** Source tokens of a target, by the frozen LM's tokenizer. */
  readonly sourceTokens: readonly number[]
}

export interface RotationSummary {
  readonly inputs: InputKind
  readonly rotation: number
  readonly bestEpoch: number
  readonly validation: SplitMetrics
  readonly test: SplitMetrics
}

export interface RouterManifest {
  readonly schemaVersion: typeof ROUTER_SCHEMA_VERSION
  /** Of the served router. */
  readonly spec: RouterSpec
  /** Input kinds with rotation models in this artefact. */
  readonly trainedInputs: readonly InputKind[]
  /** Why the served inputs were chosen, for people. */
  readonly servedBecause: string
  readonly topK: number
  readonly evidenceNames: readonly string[]
  readonly representationId: string
  readonly representation: Representation
  /** Already folded into the parameters; kept for inspection. */
  readonly standardisation: Standardisation
  readonly operatingPoints: OperatingPoints
  readonly defaultOperatingPoint: OperatingPointName
  readonly config: TrainConfig
  readonly bestEpoch: number
  readonly epochs: readonly EpochRecord[]
  readonly validation: SplitMetrics
  readonly rotations: readonly RotationSummary[]
  /** Share of READY pairs in the final model's parts, and by domain over all pairs. */
  readonly prevalence: {
    readonly training: number
    readonly validation: number
    readonly byDomain: Readonly<Record<string, number>>
  }
  readonly quantiles: TrainingQuantiles
  /** SHA-256 prefixes of group ids in the final model's parts: to recognise leaks without publishing names. */
  readonly groups: { readonly training: readonly string[]; readonly validation: readonly string[] }
  readonly data: {
    readonly runsSha256: string
    readonly labelsSha256: string
    readonly files: Readonly<Record<string, string>>
  }
  readonly engine: { readonly backend: string; readonly version: string; readonly node: string }
  /** Git commit of the code, or the package version where there is no repository. */
  readonly source: string
  /** SHA-256 of router.safetensors. */
  readonly parametersSha256: string
}

/** Logits of pairs, by index into the dataset's pair table. */
export interface PairPredictions {
  readonly pairs: readonly number[]
  readonly logits: readonly number[]
}

/** One rotation model of one input kind: what evaluation reads. */
export interface RotationRecord {
  readonly schemaVersion: typeof ROUTER_SCHEMA_VERSION
  readonly spec: RouterSpec
  readonly rotation: number
  readonly bestEpoch: number
  readonly epochs: readonly EpochRecord[]
  /** Chosen on this rotation's own validation part. */
  readonly operatingPoints: OperatingPoints
  readonly validation: SplitMetrics
  readonly test: SplitMetrics
  readonly validationPredictions: PairPredictions
  /** Held out: this model has neither trained on these groups nor been chosen by them. */
  readonly testPredictions: PairPredictions
}
