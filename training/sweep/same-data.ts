/**
 * Whether datasets are the same runs with the same labels, so that their routers can be compared rotation by rotation.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { AppError } from '../../src/errors.ts'
import { hashValue } from '../resume/hash-value.ts'
import { datasetKey } from '../resume/job-key.ts'

/** What a sweep keeps of a dataset before it may look at it: names and hashes, no pair. */
export interface DatasetSummary {
  readonly directory: string
  readonly representationId: string
  readonly model: string
  readonly layer: number
  readonly recipe: string
  /** Hash of all that training reads. */
  readonly key: string
  readonly trajectories: Dataset['trajectories']
  /** Hash of everything that must be equal, by what it is called in messages. */
  readonly shared: Readonly<Record<string, string>>
  readonly evidenceSha256: string
}

export function summariseDataset(dataset: Dataset): DatasetSummary {
  const { manifest, trajectories, pairs } = dataset
  const { trajectory, interaction, checkpoint, futureInteractions, label, boundary } = pairs
  return {
    directory: dataset.directory,
    representationId: manifest.representationId,
    model: manifest.representation.model.name,
    layer: manifest.representation.layer,
    recipe: manifest.recipe,
    key: datasetKey(dataset),
    trajectories,
    shared: {
      runs: manifest.inputs.runsSha256,
      'labels file': manifest.inputs.labelsSha256,
      groups: hashValue(trajectories),
      checkpoints: hashValue({ trajectory, interaction, checkpoint, futureInteractions }),
      labels: hashValue({ label, boundary }),
    },
    evidenceSha256: hashValue({ names: manifest.evidenceNames, values: pairs.evidence }),
  }
}

/** @throws option-invalid naming the dataset and what differs from the first one */
export function requireSameData(datasets: readonly DatasetSummary[]): void {
  const [first, ...others] = datasets
  for (const other of others) {
    const different = Object.keys(other.shared).filter((what) => other.shared[what] !== first?.shared[what])
    if (first === undefined || different.length === 0) continue
    throw new AppError(
      'option-invalid',
      `${other.directory} does not hold the same data as ${first.directory} (different: ${different.join(', ')}): ` +
        'a sweep compares representations of the same runs, labels and checkpoints; ' +
        'extract both from the same files with the same --seed and --max-checkpoints-per-run',
      { details: { dataset: other.directory, first: first.directory, different } },
    )
  }
}

/** For each dataset the number of the first one with the same evidence features. */
export function evidenceSources(datasets: readonly DatasetSummary[]): readonly number[] {
  return datasets.map(({ evidenceSha256 }) => datasets.findIndex((one) => one.evidenceSha256 === evidenceSha256))
}
