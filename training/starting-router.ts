/**
 * Fine-tuning: a router that training starts from (`keepready train --from`).
 *
 * Its standardisation is kept as it is, not fitted again. Its weights were learnt behind that map, so AdamW goes on with the
 * same scale per dimension; the inverse of the fold with the same map gives the weights back to one rounding; and moments of
 * a small new dataset would be noisier than those of the old one.
 */
import type { Dataset } from '../data/store/dataset.ts'
import { readRouter, readRouterManifest, requireRepresentation } from '../models/router/artefact.ts'
import type { RouterManifest } from '../models/router/manifest.ts'
import type { InputKind, RouterParameters, RouterSpec } from '../models/router/spec.ts'
import { type Standardisation, unfoldStandardisation } from '../models/router/standardisation.ts'
import { AppError } from '../src/errors.ts'
import { freshGroups } from './deal-parts.ts'
import type { TrainOverrides } from './train-config.ts'

/** What a job carries: parameters stay on disk until it runs. */
export interface StartingRouter {
  readonly directory: string
  readonly parametersSha256: string
}

export interface StartingPoint {
  /** For standardised inputs. */
  readonly parameters: RouterParameters
  readonly standardisation: Standardisation
}

export interface FineTuning {
  readonly start: StartingRouter
  readonly inputs: InputKind
  /** With the shape of the old router in the place of what was not given. */
  readonly overrides: TrainOverrides
  readonly parent: Pick<
    NonNullable<RouterManifest['parent']>,
    'parametersSha256' | 'source' | 'seenGroups' | 'freshGroups'
  >
}

/**
 * Checks that the router fits the dataset and what was asked for.
 * @throws router-invalid, router-version-unsupported, file-not-found, representation-mismatch (vectors or evidence features
 *   differ), option-invalid (another shape was asked for)
 */
export function planFineTuning(
  directory: string,
  dataset: Dataset,
  asked: { readonly inputs: InputKind | 'auto'; readonly overrides: TrainOverrides },
): FineTuning {
  const manifest = readRouterManifest(directory)
  requireSameInputs(directory, manifest, dataset)
  requireSameShape(directory, manifest, asked)
  const { training, validation } = manifest.groups
  const seenGroups = [...new Set([...training, ...validation])].sort()
  return {
    start: { directory, parametersSha256: manifest.parametersSha256 },
    inputs: manifest.spec.inputs,
    overrides: { ...asked.overrides, width: manifest.spec.width, hiddenScale: manifest.config.hiddenScale },
    parent: {
      parametersSha256: manifest.parametersSha256,
      source: manifest.source,
      seenGroups,
      freshGroups: freshGroups(dataset, seenGroups).size,
    },
  }
}

/** @throws router-invalid also where the files have changed since the plan was made */
export function readStartingPoint({ directory, parametersSha256 }: StartingRouter, spec: RouterSpec): StartingPoint {
  const router = readRouter(directory)
  if (router.manifest.parametersSha256 !== parametersSha256)
    throw new AppError('router-invalid', `${directory} was replaced while training started from it: train again`)
  const { standardisation } = router.manifest
  return {
    standardisation,
    parameters: unfoldStandardisation({ spec, parameters: router.parameters, standardisation }),
  }
}

function requireSameInputs(directory: string, manifest: RouterManifest, dataset: Dataset): void {
  requireRepresentation(manifest, dataset.manifest.representation)
  const differences = [
    ...(manifest.spec.inputs === 'evidence' || manifest.topK === dataset.pairs.topK
      ? []
      : [`m is a mean of ${manifest.topK} neighbours there, of ${dataset.pairs.topK} here`]),
    ...(manifest.spec.inputs === 'hidden' || manifest.evidenceNames.join() === dataset.manifest.evidenceNames.join()
      ? []
      : [
          `evidence is [${manifest.evidenceNames.join(', ')}] there, [${dataset.manifest.evidenceNames.join(', ')}] here`,
        ]),
  ]
  if (differences.length > 0)
    throw new AppError(
      'representation-mismatch',
      `${directory} reads other inputs than ${dataset.directory} holds: ${differences.join('; ')}. ` +
        'Extract again with this keepready, or train without --from',
      { details: { router: directory, dataset: dataset.directory, different: differences } },
    )
}

function requireSameShape(
  directory: string,
  { spec, config }: RouterManifest,
  { inputs, overrides }: { readonly inputs: InputKind | 'auto'; readonly overrides: TrainOverrides },
): void {
  const refuse = (option: string, given: string | number, own: string | number): void => {
    if (given !== own)
      throw new AppError(
        'option-invalid',
        `${option} is ${given}, but ${directory} to start from has ${own}: leave ${option} out, or train without --from`,
      )
  }
  refuse('--inputs', inputs === 'auto' ? spec.inputs : inputs, spec.inputs)
  refuse('--width', overrides.width ?? spec.width, spec.width)
  refuse('--hidden-scale', overrides.hiddenScale ?? config.hiddenScale, config.hiddenScale)
}
