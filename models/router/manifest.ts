/**
 * What a router artefact says about itself (DESIGN section 11): router.json and rotations/<r>/<inputs>/rotation.json.
 * The server needs the served router only; evaluation reads the rotations' held-out predictions.
 */
import type { OperatingPointName, OperatingPoints } from '../../src/router/operating-points.ts'
import type { Representation } from '../frozen-lm/representation.ts'
import type { InputKind, RouterSpec } from './spec.ts'
import type { Standardisation } from './standardisation.ts'

/**
 * Raised when the files change. Every version up to this one is read; what an older one lacks is null.
 *   2: probe rows, hashes of rotation files, group ids of rotations, means over rotations, fine-tuning
 */
export const ROUTER_SCHEMA_VERSION = 2
export type RouterSchemaVersion = 1 | typeof ROUTER_SCHEMA_VERSION

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

/** A rotation in router.json. */
export interface RotationEntry extends RotationSummary {
  /** SHA-256 of its rotation.json, which names the hash of its parameters; null in version 1. */
  readonly recordSha256: string | null
  /** The router that fine-tuning started from, on the same pairs; null where training started from nothing. */
  readonly start: { readonly validation: SplitMetrics; readonly test: SplitMetrics } | null
}

/** Over the rotations with a value: their mean, and their standard deviation (n - 1; null with fewer than two). */
export interface MeanAndSpread {
  readonly mean: number
  readonly standardDeviation: number | null
  readonly rotations: number
}

/** Metrics of one input kind over its rotations; null where no rotation has a value. */
export interface RotationMeans {
  readonly inputs: InputKind
  readonly split: 'validation' | 'test'
  readonly withinAuroc: MeanAndSpread | null
  readonly prAuc: MeanAndSpread | null
}

/** 16 hex digits of SHA-256 each, sorted: leaks can be recognised, names cannot be read. */
export interface HashedSplit {
  readonly training: readonly string[]
  readonly validation: readonly string[]
}

/** The router that fine-tuning started from. */
export interface RouterParent {
  readonly parametersSha256: string
  readonly source: string
  /** Group ids that it, or one before it, has seen: they never validate or test here. */
  readonly seenGroups: readonly string[]
  /** Groups of this dataset that it has not seen: the rotations deal these. */
  readonly freshGroups: number
  /** What it reaches on the validation part of the final model. */
  readonly validation: SplitMetrics
}

export interface RouterManifest {
  /** Of the file that was read. */
  readonly schemaVersion: RouterSchemaVersion
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
  readonly rotations: readonly RotationEntry[]
  readonly means: readonly RotationMeans[]
  /** Share of READY pairs in the final model's parts, and by domain over all pairs. */
  readonly prevalence: {
    readonly training: number
    readonly validation: number
    readonly byDomain: Readonly<Record<string, number>>
  }
  readonly quantiles: TrainingQuantiles
  /** Of the final model. */
  readonly groups: HashedSplit
  readonly parent: RouterParent | null
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
  /** SHA-256 of probe.safetensors; null in version 1, which has none. */
  readonly probeSha256: string | null
}

/** Logits of pairs, by index into the dataset's pair table. */
export interface PairPredictions {
  readonly pairs: readonly number[]
  readonly logits: readonly number[]
}

/** One rotation model of one input kind: what evaluation reads. */
export interface RotationRecord {
  readonly schemaVersion: RouterSchemaVersion
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
  /** Test pairs by the router that fine-tuning started from, which never saw their groups; null without one. */
  readonly startPredictions: PairPredictions | null
  /** Null in version 1. */
  readonly groups: (HashedSplit & { readonly test: readonly string[] }) | null
  /** SHA-256 of the router.safetensors beside it; null in version 1. */
  readonly parametersSha256: string | null
}
