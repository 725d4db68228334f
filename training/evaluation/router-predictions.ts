/**
 * The held-out predictions of a router artefact, and a check that they belong to this dataset.
 */
import { type Part, ROTATIONS } from '../../data/rotations.ts'
import type { Dataset } from '../../data/store/dataset.ts'
import { readRotation, readRotationParameters, readRouterManifest } from '../../models/router/artefact.ts'
import type { RouterManifest } from '../../models/router/manifest.ts'
import { AppError } from '../../src/errors.ts'
import { OPERATING_POINT_NAMES } from '../../src/router/operating-points.ts'
import { dealParts } from '../deal-parts.ts'
import type { HeldOutPredictions } from './held-out-predictions.ts'
import type { RotationModel } from './storage-perturbation.ts'

export interface RouterPredictions {
  readonly manifest: RouterManifest
  readonly parts: ReadonlyMap<string, Part>
  readonly predictions: readonly HeldOutPredictions[]
  /** Parameters of one rotation of the served input, read when asked for. @throws router-invalid */
  readonly rotationModel: (rotation: number) => RotationModel
}

/** @throws file-not-found, router-invalid, router-version-unsupported, option-invalid (trained on another dataset) */
export function readRouterPredictions(directory: string, dataset: Dataset): RouterPredictions {
  const manifest = readRouterManifest(directory)
  requireSameData(directory, manifest, dataset)
  const predictions = manifest.trainedInputs.flatMap((inputs) =>
    ROTATIONS.map((rotation): HeldOutPredictions => {
      const record = readRotation(directory, { rotation, inputs })
      return {
        inputs,
        rotation,
        pairs: record.testPredictions.pairs,
        logits: record.testPredictions.logits,
        validation: record.validationPredictions,
        operatingPoints: OPERATING_POINT_NAMES.map((name) => ({
          name,
          tauLogit: record.operatingPoints.points[name].tauLogit,
        })),
        calibration: record.operatingPoints.calibration,
        ...(record.startPredictions === null ? {} : { start: record.startPredictions }),
      }
    }),
  )
  return {
    manifest,
    parts: dealParts(dataset, manifest.config.seed, manifest.parent),
    predictions,
    rotationModel(rotation) {
      const record = readRotation(directory, { rotation, inputs: manifest.spec.inputs })
      return { spec: record.spec, parameters: readRotationParameters(directory, record) }
    },
  }
}

/**
 * Predictions are rows of one pair table: labels or runs that changed since make them meaningless.
 * @throws option-invalid naming what differs
 */
export function requireSameData(directory: string, manifest: RouterManifest, dataset: Dataset): void {
  const { runsSha256, labelsSha256 } = dataset.manifest.inputs
  const changed = [
    ...(manifest.data.runsSha256 === runsSha256 ? [] : ['runs']),
    ...(manifest.data.labelsSha256 === labelsSha256 ? [] : ['labels']),
    ...(manifest.representationId === dataset.manifest.representationId ? [] : ['representation']),
    ...Object.entries(dataset.manifest.files)
      .filter(([name, hash]) => manifest.data.files[name] !== undefined && manifest.data.files[name] !== hash)
      .map(([name]) => name),
  ]
  if (changed.length === 0) return
  throw new AppError(
    'option-invalid',
    `${directory} was trained on other data than ${dataset.directory} (different: ${changed.join(', ')}): ` +
      `re-run keepready train ${dataset.directory} --out ${directory}, or give the dataset it was trained on`,
    { details: { router: directory, dataset: dataset.directory, different: changed } },
  )
}
