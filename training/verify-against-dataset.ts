/**
 * Whether a router artefact and the dataset it was trained on fit each other: no rotation trained or validated on a group
 * it is tested on, and held-out predictions are what its parameters give for the dataset's rows.
 */
import { isDeepStrictEqual } from 'node:util'
import { ROTATIONS, type Rotation, rotationSplit } from '../data/rotations.ts'
import type { Dataset } from '../data/store/dataset.ts'
import { readRotation, readRotationParameters, readRouter } from '../models/router/artefact.ts'
import { forwardLogit } from '../models/router/forward.ts'
import type { PairPredictions, RotationRecord } from '../models/router/manifest.ts'
import { probeRow } from '../models/router/probe.ts'
import { largestDifference } from '../models/router/recompute-probe.ts'
import type { InputKind, RouterParameters } from '../models/router/spec.ts'
import { PARITY_TOLERANCE, probeOf } from '../models/router/verify-router.ts'
import { dealParts } from './deal-parts.ts'
import { requireSameData } from './evaluation/router-predictions.ts'
import { hashedIds } from './group-ids.ts'
import { pairInputs, probeRows } from './probe-rows.ts'
import { pairsOfGroups } from './split-pairs.ts'

export interface DatasetCheck {
  readonly dataset: string
  readonly rotations: number
  /** Held-out predictions, all of groups that their rotation never saw. */
  readonly testPairs: number
  /** Of these, those computed again from the dataset's rows. */
  readonly recomputed: number
  readonly largestDifference: number
  readonly findings: readonly string[]
}

/** @throws router-invalid, router-version-unsupported, option-invalid (another dataset), training-data-insufficient */
export function verifyAgainstDataset(directory: string, dataset: Dataset): DatasetCheck {
  const router = readRouter(directory)
  const { manifest } = router
  requireSameData(directory, manifest, dataset)
  const parts = dealParts(dataset, manifest.config.seed, manifest.parent)
  const findings: string[] = []
  let testPairs = 0
  let recomputed = 0
  let largest = 0
  for (const inputs of manifest.trainedInputs)
    for (const rotation of ROTATIONS) {
      const record = readRotation(directory, { rotation, inputs })
      const split = splitFindings(dataset, record, rotationSplit(parts, rotation))
      findings.push(...split.map(named(rotation, inputs)))
      testPairs += record.testPredictions.pairs.length
      // Predictions of other pairs need not be rows of this dataset at all.
      if (split.length > 0) continue
      const difference = recompute(dataset, record, readRotationParameters(directory, record))
      if (!(difference.relative <= PARITY_TOLERANCE))
        findings.push(
          named(
            rotation,
            inputs,
          )(
            `its held-out predictions differ by ${difference.relative.toExponential(1)} (relative) from what its ` +
              `parameters give for the dataset's rows, the limit is ${PARITY_TOLERANCE}`,
          ),
        )
      recomputed += difference.rows
      largest = Math.max(largest, difference.relative)
    }
  findings.push(...finalFindings(dataset, router, rotationSplit(parts, 'final')))
  return {
    dataset: dataset.directory,
    rotations: manifest.trainedInputs.length * ROTATIONS.length,
    testPairs,
    recomputed,
    largestDifference: largest,
    findings,
  }
}

function named(rotation: Rotation, inputs: InputKind): (finding: string) => string {
  return (finding) => `rotation ${rotation} of ${inputs}: ${finding}`
}

function splitFindings(
  dataset: Dataset,
  record: RotationRecord,
  split: ReturnType<typeof rotationSplit>,
): readonly string[] {
  const { manifest } = dataset
  const findings: string[] = []
  const strangers = (predictions: PairPredictions, groups: ReadonlySet<string>): readonly number[] =>
    predictions.pairs.filter((pair) => !groups.has(groupOf(dataset, pair)))
  const tested = strangers(record.testPredictions, split.test)
  if (tested.length > 0)
    findings.push(`${tested.length} test predictions are of groups that are not in its test part (pair ${tested[0]})`)
  const validated = strangers(record.validationPredictions, split.validation)
  if (validated.length > 0)
    findings.push(`${validated.length} validation predictions are of groups that are not in its validation part`)
  const expected = pairsOfGroups(dataset, split.test).flat()
  if (tested.length === 0 && new Set(record.testPredictions.pairs).size !== expected.length)
    findings.push(
      `${record.testPredictions.pairs.length} test predictions, its test part holds ${expected.length} pairs`,
    )
  const own = {
    training: hashedIds(manifest, split.train),
    validation: hashedIds(manifest, split.validation),
    test: hashedIds(manifest, split.test),
  }
  if (record.groups !== null && !isDeepStrictEqual(record.groups, own))
    findings.push('its group ids are not those that the seed deals from this dataset')
  return findings
}

function recompute(
  dataset: Dataset,
  record: RotationRecord,
  parameters: RouterParameters,
): { readonly relative: number; readonly rows: number } {
  const probe = probeRows(dataset, record.spec, record.testPredictions)
  const logits = Float64Array.from(probe.logits, (_, row) =>
    forwardLogit(record.spec, parameters, probeRow(record.spec, probe, row)),
  )
  return { relative: largestDifference(logits, probe.logits).relative, rows: logits.length }
}

function finalFindings(
  dataset: Dataset,
  router: ReturnType<typeof readRouter>,
  split: ReturnType<typeof rotationSplit>,
): readonly string[] {
  const { manifest, spec } = router
  const findings: string[] = []
  const seen = manifest.parent?.seenGroups ?? []
  const training = [...new Set([...hashedIds(dataset.manifest, split.train), ...seen])].sort()
  // Version 1 did not count near copies among the ids.
  if (manifest.probeSha256 !== null && !isDeepStrictEqual(manifest.groups.training, training))
    findings.push('router.json: groups.training are not those that the seed deals from this dataset')
  const probe = probeOf(router)
  const inside = probe.pairs?.every((pair) => pair < dataset.pairs.count) ?? true
  if (!inside || (probe.pairs !== null && !isDeepStrictEqual(probe.inputs, pairInputs(dataset, spec, probe.pairs))))
    findings.push("the probe rows are not the dataset's rows of the pairs that they name")
  return findings
}

function groupOf(dataset: Dataset, pair: number): string {
  return dataset.trajectories[dataset.pairs.trajectory[pair] ?? -1]?.group ?? ''
}
