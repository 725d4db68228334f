/**
 * Validation pairs in two halves of disjoint groups: thresholds are chosen on one, calibration is fitted on the other, so
 * that neither flatters the other (DESIGN section 8). Pure.
 */

export interface ValidationPairs {
  /** (n) */
  readonly logits: ArrayLike<number>
  readonly labels: ArrayLike<number>
  /** (n) group of each pair. */
  readonly groups: readonly string[]
}

export interface ValidationHalves {
  readonly threshold: ValidationPairs
  readonly calibration: ValidationPairs
}

/** Groups by falling number of READY pairs, dealt A B B A ..., so that both halves hold positives; ties by name. */
export function splitValidation(pairs: ValidationPairs): ValidationHalves {
  const positives = new Map<string, number>()
  pairs.groups.forEach((group, i) => {
    positives.set(group, (positives.get(group) ?? 0) + (pairs.labels[i] as number))
  })
  const ordered = [...positives].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([group]) => group)
  const inThreshold = (rank: number): boolean => rank % 4 === 0 || rank % 4 === 3
  return {
    threshold: takeGroups(pairs, new Set(ordered.filter((_, rank) => inThreshold(rank)))),
    calibration: takeGroups(pairs, new Set(ordered.filter((_, rank) => !inThreshold(rank)))),
  }
}

export function countPositives(pairs: ValidationPairs): number {
  let positives = 0
  for (let i = 0; i < pairs.groups.length; i++) positives += pairs.labels[i] as number
  return positives
}

function takeGroups(pairs: ValidationPairs, groups: ReadonlySet<string>): ValidationPairs {
  const kept = [...pairs.groups.keys()].filter((i) => groups.has(pairs.groups[i] as string))
  return {
    logits: kept.map((i) => pairs.logits[i] as number),
    labels: kept.map((i) => pairs.labels[i] as number),
    groups: kept.map((i) => pairs.groups[i] as string),
  }
}
