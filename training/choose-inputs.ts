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
export const BY_COST: readonly InputKind[] = ['evidence', 'hidden', 'hidden+evidence']

interface ScoredKind {
  readonly inputs: InputKind
  readonly score: number
  /** By rotation; null where the metric has no value. */
  readonly values: ReadonlyMap<number, number | null>
}

/**
 * The cheapest kind whose mean validation within-trajectory AUROC over the rotations lies within one standard error of the
 * best kind's (one-standard-error rule, Breiman et al. 1984, section 3.4.3): what a rerun could turn around is not worth a
 * dearer router. The standard error is that of the difference between the two kinds, paired over rotations, which share
 * their groups. Where no trajectory holds both classes, validation PR-AUC decides.
 */
export function chooseInputs(rotations: readonly RotationSummary[]): ServedChoice {
  const kinds = BY_COST.filter((kind) => rotations.some((rotation) => rotation.inputs === kind))
  const single = kinds.length === 1 ? kinds[0] : undefined
  if (single !== undefined) return { inputs: single, because: `only ${single} was trained` }
  const metric = rotations.every((rotation) => rotation.validation.withinAuroc === null) ? 'prAuc' : 'withinAuroc'
  const scored = kinds.map((inputs): ScoredKind => {
    const own = rotations.filter((rotation) => rotation.inputs === inputs)
    const values = new Map(own.map(({ rotation, validation }) => [rotation, validation[metric]]))
    return { inputs, score: mean([...values.values()]), values }
  })
  const best = invariant(
    scored.toSorted((a, b) => b.score - a.score || BY_COST.indexOf(a.inputs) - BY_COST.indexOf(b.inputs))[0],
    'an input kind was trained',
  )
  const name = metric === 'prAuc' ? 'PR-AUC' : 'within-trajectory AUROC'
  const figures = scored.map(({ inputs, score }) => `${inputs} ${score.toFixed(3)}`).join(', ')
  for (const cheaper of scored.slice(0, scored.indexOf(best))) {
    const error = pairedStandardError(best, cheaper)
    if (error === null || best.score - cheaper.score > error) continue
    return {
      inputs: cheaper.inputs,
      because:
        `the cheapest kind whose mean validation ${name} over the rotations is within one standard error of the best ` +
        `(${figures}; ${best.inputs} is ahead by ${(best.score - cheaper.score).toFixed(3)}, standard error ${error.toFixed(3)})`,
    }
  }
  return { inputs: best.inputs, because: `best mean validation ${name} over the rotations (${figures})` }
}

/** Of the mean difference over the rotations that know both kinds; null for fewer than two. */
function pairedStandardError(a: ScoredKind, b: ScoredKind): number | null {
  const differences = [...a.values].flatMap(([rotation, left]) => {
    const right = b.values.get(rotation) ?? null
    return left === null || right === null ? [] : [left - right]
  })
  if (differences.length < 2) return null
  const centre = mean(differences)
  const squares = differences.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  return Math.sqrt(squares / (differences.length - 1) / differences.length)
}

/** Rotations without a value are left out; 0 if none has one. */
function mean(values: readonly (number | null)[]): number {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length
}
