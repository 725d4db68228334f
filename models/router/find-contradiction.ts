/**
 * Whether the parts of a router manifest fit each other: a file whose every field is valid can still be put together from
 * two routers. Pure.
 */
import { OPERATING_POINT_NAMES } from '../../src/router/operating-points.ts'
import { representationId } from '../frozen-lm/representation.ts'
import type { RouterManifest } from './manifest.ts'
import { blocksOf } from './parameters.ts'
import { blockSize } from './spec.ts'

/** @returns the first contradiction in words, or null */
export function findContradiction(manifest: RouterManifest): string | null {
  return (
    representationContradiction(manifest) ??
    sizeContradiction(manifest) ??
    operatingPointContradiction(manifest) ??
    rotationContradiction(manifest)
  )
}

function representationContradiction({ representation, representationId: id, spec }: RouterManifest): string | null {
  const own = representationId(representation)
  if (own !== id) return `representationId is ${id}, its representation has ${own}`
  if (spec.inputs !== 'evidence' && spec.hiddenSize !== representation.model.hiddenSize)
    return `spec.hiddenSize is ${spec.hiddenSize}, its representation has ${representation.model.hiddenSize}`
  return null
}

function sizeContradiction({ spec, standardisation, evidenceNames, quantiles }: RouterManifest): string | null {
  const blocks = blocksOf(spec)
  const found = Object.keys(standardisation).sort().join()
  if (found !== [...blocks].sort().join()) return `standardisation has blocks [${found}], its spec reads [${blocks}]`
  for (const block of blocks) {
    const size = standardisation[block]?.mean.length
    if (size !== blockSize(spec, block))
      return `standardisation.${block} has ${size} values, its spec asks for ${blockSize(spec, block)}`
  }
  if (spec.inputs !== 'hidden' && evidenceNames.length !== spec.evidenceSize)
    return `evidenceNames holds ${evidenceNames.length} names, spec.evidenceSize is ${spec.evidenceSize}`
  const { levels } = quantiles
  for (const name of ['score', 'interactions', 'sourceTokens'] as const)
    if (quantiles[name].length !== 0 && quantiles[name].length !== levels.length)
      return `quantiles.${name} holds ${quantiles[name].length} values for ${levels.length} levels`
  return null
}

function operatingPointContradiction({ operatingPoints }: RouterManifest): string | null {
  for (const name of OPERATING_POINT_NAMES) {
    const point = operatingPoints.points[name]
    if (point.name !== name) return `operatingPoints.points.${name} is called ${point.name}`
    if ((point.tau === null) !== (point.tauLogit === null))
      return `operatingPoints.points.${name} has tau ${point.tau} and tauLogit ${point.tauLogit}`
  }
  const { calibration } = operatingPoints
  if (calibration !== null && calibration.scores.length !== calibration.values.length)
    return `operatingPoints.calibration has ${calibration.scores.length} scores and ${calibration.values.length} values`
  return null
}

function rotationContradiction({ rotations, trainedInputs, spec, bestEpoch, epochs }: RouterManifest): string | null {
  if (bestEpoch > epochs.length) return `bestEpoch is ${bestEpoch} of ${epochs.length} epochs`
  if (!trainedInputs.includes(spec.inputs)) return `it serves ${spec.inputs}, trained are [${trainedInputs}]`
  const seen = new Set<string>()
  for (const { inputs, rotation } of rotations) {
    const name = `${rotation}/${inputs}`
    if (seen.has(name)) return `rotation ${name} stands twice`
    if (!trainedInputs.includes(inputs)) return `rotation ${name} is of inputs that were not trained`
    seen.add(name)
  }
  return null
}
