/** What a record says of the dataset that it was measured on. Pure. */
import type { Dataset } from '../../data/store/dataset.ts'

export interface RecordedDataset {
  readonly directory: string
  readonly representationId: string
  readonly model: string
  readonly layer: number
  readonly recipe: string
  readonly runsSha256: string
  readonly labelsSha256: string
  /** Runs by domain. */
  readonly domains: Readonly<Record<string, number>>
}

export function recordDataset({
  directory,
  manifest,
  trajectories,
}: Pick<Dataset, 'directory' | 'manifest' | 'trajectories'>): RecordedDataset {
  const domains: Record<string, number> = {}
  for (const { domain } of trajectories) domains[domain] = (domains[domain] ?? 0) + 1
  return {
    directory,
    representationId: manifest.representationId,
    model: manifest.representation.model.name,
    layer: manifest.representation.layer,
    recipe: manifest.recipe,
    runsSha256: manifest.inputs.runsSha256,
    labelsSha256: manifest.inputs.labelsSha256,
    domains,
  }
}
