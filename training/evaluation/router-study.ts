/**
 * What an evaluation says of a router beyond ranking: policies, delays, margins (router-study-record.ts).
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { stabilityOf } from '../../src/metrics/margin-stability.ts'
import { DEFAULT_OPERATING_POINT, OPERATING_POINT_NAMES } from '../../src/router/operating-points.ts'
import type { ValidationPairs } from '../../src/router/validation-halves.ts'
import { delayRecord } from './delay-study.ts'
import { firstSelections } from './first-selections.ts'
import type { HeldOutPredictions } from './held-out-predictions.ts'
import { marginRecord } from './margin-study.ts'
import type { RotationScores } from './measure-predictor.ts'
import { studyPolicies } from './policy-study.ts'
import type { MarginRecord, MeasuredPerturbation, OperatingPointDelays, RouterStudy } from './router-study-record.ts'

/** One rotation of one input kind: what it was given, and its scores on the test table. */
export interface StudiedRotation {
  readonly held: HeldOutPredictions
  readonly scores: RotationScores
}

/** @param perturbed measured elsewhere, e.g. storage rounding */
export function studyRouter(
  dataset: Dataset,
  rotations: readonly StudiedRotation[],
  perturbed: readonly MeasuredPerturbation[] = [],
): RouterStudy {
  const point = studiedPoint(rotations)
  return {
    policies: policiesOf(dataset, rotations),
    delays: delaysOf(dataset, rotations),
    margins: point === null ? null : marginsOf(rotations, point, perturbed),
  }
}

/** The default operating point, or the next one that has a threshold in some rotation. */
export function studiedPoint(rotations: readonly StudiedRotation[]): string | null {
  const names = [DEFAULT_OPERATING_POINT, ...OPERATING_POINT_NAMES]
  return names.find((name) => rotations.some((rotation) => thresholdAt(rotation, name) !== null)) ?? null
}

export function thresholdAt({ scores }: StudiedRotation, point: string): number | null {
  return scores.operatingPoints.find((one) => one.name === point)?.threshold ?? null
}

/** @returns null where the artefact kept no validation predictions */
export function validationPairs(dataset: Dataset, held: HeldOutPredictions): ValidationPairs | null {
  const { validation } = held
  if (validation === undefined || validation.pairs.length === 0) return null
  const pairs = Array.from(validation.pairs)
  return {
    logits: validation.logits,
    labels: pairs.map((pair) => dataset.pairs.label[pair] ?? 0),
    groups: pairs.map((pair) => dataset.trajectories[dataset.pairs.trajectory[pair] ?? 0]?.group ?? ''),
  }
}

function policiesOf(dataset: Dataset, rotations: readonly StudiedRotation[]): RouterStudy['policies'] {
  const prepared = rotations.flatMap(({ held, scores: { test, scores } }) => {
    const validation = validationPairs(dataset, held)
    const rows = headlineRows(test.subsets.headline.mask)
    const columns = { logits: rows.map((row) => scores[row] ?? 0), labels: rows.map((row) => test.labels[row] ?? 0) }
    return validation === null || rows.length === 0 ? [] : [{ validation, test: columns }]
  })
  return prepared.length === 0 ? [] : studyPolicies(prepared)
}

function delaysOf({ pairs }: Dataset, rotations: readonly StudiedRotation[]): readonly OperatingPointDelays[] {
  const names = rotations[0]?.scores.operatingPoints.map((point) => point.name) ?? []
  return names.map((operatingPoint) => ({
    operatingPoint,
    ...delayRecord(
      rotations.flatMap((rotation) => {
        const { test, scores } = rotation.scores
        return firstSelections({
          test,
          pairs,
          scores,
          tau: thresholdAt(rotation, operatingPoint),
          subset: 'headline',
        })
      }),
    ),
  }))
}

function marginsOf(
  rotations: readonly StudiedRotation[],
  point: string,
  perturbed: readonly MeasuredPerturbation[],
): MarginRecord {
  const distances = rotations.flatMap((rotation) => {
    const tau = thresholdAt(rotation, point)
    const { test, scores } = rotation.scores
    return tau === null ? [] : headlineRows(test.subsets.headline.mask).map((row) => (scores[row] ?? 0) - tau)
  })
  const other = otherRotation(rotations, point)
  return marginRecord({
    operatingPoint: point,
    distances: Float64Array.from(distances),
    measured: [...perturbed, ...(other === null ? [] : [other])],
  })
}

/**
 * The part that rotation r tests on is what rotation r - 1 validates on, so both models have scored it and neither trained
 * on it: a perturbation as large as training again on three other parts of four.
 */
function otherRotation(rotations: readonly StudiedRotation[], point: string): MeasuredPerturbation | null {
  const a: number[] = []
  const b: number[] = []
  for (const rotation of rotations) {
    const tauA = thresholdAt(rotation, point)
    if (tauA === null) continue
    const { test, scores } = rotation.scores
    const rowOf = new Map(headlineRows(test.subsets.headline.mask).map((row) => [test.rows[row] ?? 0, row]))
    for (const other of rotations) {
      const tauB = thresholdAt(other, point)
      const { validation } = other.held
      if (other === rotation || tauB === null || validation === undefined) continue
      for (let i = 0; i < validation.pairs.length; i++) {
        const row = rowOf.get(validation.pairs[i] ?? -1)
        if (row === undefined) continue
        a.push((scores[row] ?? 0) - tauA)
        b.push((validation.logits[i] ?? 0) - tauB)
      }
    }
  }
  if (a.length === 0) return null
  return {
    name: 'other-rotation',
    description:
      'two rotation models on the same pairs, each at its own threshold: the one that tests on these groups, and the one that validates on them; neither trained on them',
    ...stabilityOf(Float64Array.from(a), Float64Array.from(b)),
  }
}

function headlineRows(mask: Uint8Array): readonly number[] {
  return Array.from(mask.keys()).filter((row) => mask[row] === 1)
}
