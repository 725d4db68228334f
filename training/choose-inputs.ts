/**
 * Which input kind the artefact serves, decided on validation parts only. Pure.
 */
import type { RotationSummary } from '../models/router/manifest.ts'
import type { InputKind } from '../models/router/spec.ts'
import { invariant } from '../src/errors.ts'

export interface ServedChoice {
  readonly inputs: InputKind
  /** A sentence for people. */
  readonly because: string
}

/** From the cheapest to serve to the dearest; ties go to the cheaper. */
const BY_COST: readonly InputKind[] = ['evidence', 'hidden', 'hidden+evidence']

/**
 * The kind with the highest mean validation within-trajectory AUROC over the rotations; where no trajectory holds both
 * classes, the highest mean validation PR-AUC.
 */
export function chooseInputs(rotations: readonly RotationSummary[]): ServedChoice {
  const kinds = BY_COST.filter((kind) => rotations.some((rotation) => rotation.inputs === kind))
  const single = kinds.length === 1 ? kinds[0] : undefined
  if (single !== undefined) return { inputs: single, because: `only ${single} was trained` }
  const metric = rotations.every((rotation) => rotation.validation.withinAuroc === null) ? 'prAuc' : 'withinAuroc'
  const scored = kinds.map((inputs) => ({
    inputs,
    score: mean(rotations.filter((rotation) => rotation.inputs === inputs).map((one) => one.validation[metric])),
  }))
  const best = invariant(
    scored.toSorted((a, b) => b.score - a.score || BY_COST.indexOf(a.inputs) - BY_COST.indexOf(b.inputs))[0],
    'an input kind was trained',
  )
  const name = metric === 'prAuc' ? 'PR-AUC' : 'within-trajectory AUROC'
  const figures = scored.map(({ inputs, score }) => `${inputs} ${score.toFixed(3)}`).join(', ')
  return { inputs: best.inputs, because: `best mean validation ${name} over the rotations (${figures})` }
}

/** Rotations without a value are left out; 0 if none has one. */
function mean(values: readonly (number | null)[]): number {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length
}
