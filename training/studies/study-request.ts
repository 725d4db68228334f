/**
 * What a study is asked to do, and what it measured before it became a record.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import type { TrainConfig } from '../../models/router/manifest.ts'
import type { InputKind } from '../../models/router/spec.ts'
import type { Baseline } from '../baselines/baseline.ts'
import type { ObservationCorpus } from '../baselines/observation-corpus.ts'
import type { TestScores } from '../evaluation/measure-scores.ts'
import type { RotationTest } from '../evaluation/rotation-test.ts'
import type { ManyJobs } from '../sweep/many-jobs.ts'
import { resolveTrainConfig, type TrainOverrides } from '../train-config.ts'
import type { DesignedFold, DesignedPoint, StudyDesign } from './study-design.ts'
import type { StudyKind } from './study-record.ts'

export interface StudyRequest extends ManyJobs {
  readonly kind: StudyKind
  readonly design: StudyDesign
  readonly dataset: Dataset
  readonly inputs: readonly InputKind[]
  readonly overrides: TrainOverrides
  readonly baselines: readonly Baseline[]
  /** Read only by baselines that need text. */
  readonly corpus: ObservationCorpus
  /** Of bootstrap and baselines. */
  readonly seed: number
}

/** What one point was measured with; a predictor that has no value there is not in `scores`. */
export interface MeasuredPoint {
  readonly point: DesignedPoint
  /** Folds that could be trained and tested. */
  readonly folds: readonly DesignedFold[]
  readonly tests: readonly RotationTest[]
  /** By predictor, one entry per fold. */
  readonly scores: ReadonlyMap<string, readonly TestScores[]>
}

export function configOf({ overrides }: StudyRequest, kind: InputKind, seed: number | null): TrainConfig {
  return resolveTrainConfig(kind, seed === null ? overrides : { ...overrides, seed })
}

export function referenceName(kind: InputKind): string {
  return `${kind}, domain seen`
}
