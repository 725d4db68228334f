/**
 * How far two files of labels say the same: over pairs (i, c), and over boundaries. Pure counting.
 * Pairs as everywhere: checkpoints c = 2 .. N-1, targets i in [0, c-1).
 */
import { AppError } from '../../src/errors.ts'
import { type AgreementTable, cohenKappa } from '../../src/metrics/cohen-kappa.ts'
import type { InteractionLabel, LabelRow } from './label-record.ts'

export interface Agreement {
  readonly table: AgreementTable
  readonly pairs: number
  /** Share of pairs with the same class; null without pairs. */
  readonly same: number | null
  /** Cohen's kappa; null where it is undefined. */
  readonly kappa: number | null
}

/** Boundaries of interactions that are somebody's target. READY within the run means: at some checkpoint before N. */
export interface BoundaryAgreement {
  /** KEEP throughout for both. */
  readonly bothNever: number
  /** READY within the run for one of them alone. */
  readonly onlyA: number
  readonly onlyB: number
  /** READY within the run for both, by B's boundary against A's. */
  readonly equal: number
  readonly earlier: number
  readonly later: number
  /** b_B - b_A of those, ascending: [value, interactions]. */
  readonly differences: readonly (readonly [difference: number, interactions: number])[]
}

/** One interaction on which the two differ, and on how many checkpoints. */
export interface Disagreement {
  readonly trajectory: string
  readonly interaction: number
  readonly boundaryA: number | null
  readonly boundaryB: number | null
  readonly pairs: number
}

export interface LabelAgreement extends Agreement {
  readonly annotatorsA: readonly string[]
  readonly annotatorsB: readonly string[]
  /** Runs labelled by both. */
  readonly runs: number
  readonly onlyInA: readonly string[]
  readonly onlyInB: readonly string[]
  /** Interactions that only one of the two rows of a run labels: not compared. */
  readonly unmatchedInteractions: number
  readonly boundaries: BoundaryAgreement
  /** By name; empty without `domainOf`. */
  readonly byDomain: readonly (Agreement & { readonly name: string; readonly runs: number })[]
  /** All of them: most checkpoints first, then by run and interaction. */
  readonly disagreements: readonly Disagreement[]
}

/**
 * @param domainOf domain of a run by its id; null leaves out the split by domain
 * @throws labels-mismatch when no run is in both, or a run's labels were made from another number of interactions
 */
export function labelAgreement(
  a: readonly LabelRow[],
  b: readonly LabelRow[],
  domainOf: ((trajectory: string) => string) | null = null,
): LabelAgreement {
  const rowOfB = new Map(b.map((row) => [row.trajectory, row]))
  const idsOfA = new Set(a.map((row) => row.trajectory))
  const all = emptyTable()
  const domains = new Map<string, { table: Counts; runs: number }>()
  const boundaries = { bothNever: 0, onlyA: 0, onlyB: 0, equal: 0, earlier: 0, later: 0 }
  const differences = new Map<number, number>()
  const disagreements: Disagreement[] = []
  let runs = 0
  let unmatched = 0
  for (const rowA of a) {
    const rowB = rowOfB.get(rowA.trajectory)
    if (rowB === undefined) continue
    const length = commonLength(rowA, rowB)
    const domain = domainOf === null ? null : domainEntry(domains, domainOf(rowA.trajectory))
    runs++
    if (domain !== null) domain.runs++
    const labelsOfB = new Map(rowB.labels.map((label) => [label.interaction, label]))
    unmatched += rowB.labels.length
    for (const labelA of rowA.labels) {
      const labelB = labelsOfB.get(labelA.interaction)
      if (labelB === undefined) unmatched++
      else {
        unmatched--
        const counts = comparePairs(labelA, labelB, length)
        addTo(all, counts)
        if (domain !== null) addTo(domain.table, counts)
        const differing = counts.onlyA + counts.onlyB
        if (differing > 0)
          disagreements.push({
            trajectory: rowA.trajectory,
            interaction: labelA.interaction,
            boundaryA: labelA.boundary,
            boundaryB: labelB.boundary,
            pairs: differing,
          })
        if (labelA.interaction + 2 < length) countBoundary(boundaries, differences, [labelA, labelB], length)
      }
    }
  }
  if (runs === 0)
    throw new AppError(
      'labels-mismatch',
      `the two files have no run in common (${a.length} and ${b.length} rows): label the same runs.jsonl`,
    )
  return {
    ...agreementOf(all),
    annotatorsA: [...new Set(a.map((row) => row.annotator))],
    annotatorsB: [...new Set(b.map((row) => row.annotator))],
    runs,
    onlyInA: a.map((row) => row.trajectory).filter((id) => !rowOfB.has(id)),
    onlyInB: b.map((row) => row.trajectory).filter((id) => !idsOfA.has(id)),
    unmatchedInteractions: unmatched,
    boundaries: { ...boundaries, differences: [...differences].sort(([x], [y]) => x - y) },
    byDomain: [...domains]
      .sort(([x], [y]) => (x < y ? -1 : 1))
      .map(([name, domain]) => ({ ...agreementOf(domain.table), name, runs: domain.runs })),
    disagreements: disagreements.sort(
      (x, y) =>
        y.pairs - x.pairs ||
        (x.trajectory < y.trajectory ? -1 : x.trajectory > y.trajectory ? 1 : x.interaction - y.interaction),
    ),
  }
}

interface Counts {
  bothReady: number
  onlyA: number
  onlyB: number
  bothKeep: number
}

function emptyTable(): Counts {
  return { bothReady: 0, onlyA: 0, onlyB: 0, bothKeep: 0 }
}

function addTo(into: Counts, counts: AgreementTable): void {
  into.bothReady += counts.bothReady
  into.onlyA += counts.onlyA
  into.onlyB += counts.onlyB
  into.bothKeep += counts.bothKeep
}

function agreementOf(table: AgreementTable): Agreement {
  const pairs = table.bothReady + table.onlyA + table.onlyB + table.bothKeep
  return {
    table,
    pairs,
    same: pairs === 0 ? null : (table.bothReady + table.bothKeep) / pairs,
    kappa: cohenKappa(table),
  }
}

/** READY is c >= b, so the four counts follow from the two boundaries; no loop over checkpoints. */
function comparePairs(a: InteractionLabel, b: InteractionLabel, length: number): AgreementTable {
  const pairs = Math.max(0, length - a.interaction - 2)
  const readyPairs = (boundary: number | null): number =>
    boundary === null ? 0 : Math.max(0, length - Math.max(boundary, a.interaction + 2))
  const readyA = readyPairs(a.boundary)
  const readyB = readyPairs(b.boundary)
  const bothReady = Math.min(readyA, readyB)
  return {
    bothReady,
    onlyA: readyA - bothReady,
    onlyB: readyB - bothReady,
    bothKeep: pairs - Math.max(readyA, readyB),
  }
}

function countBoundary(
  into: { bothNever: number; onlyA: number; onlyB: number; equal: number; earlier: number; later: number },
  differences: Map<number, number>,
  [a, b]: readonly [InteractionLabel, InteractionLabel],
  length: number,
): void {
  const within = (boundary: number | null): number | null => (boundary === null || boundary >= length ? null : boundary)
  const boundaryA = within(a.boundary)
  const boundaryB = within(b.boundary)
  if (boundaryA === null && boundaryB === null) into.bothNever++
  else if (boundaryB === null) into.onlyA++
  else if (boundaryA === null) into.onlyB++
  else {
    const difference = boundaryB - boundaryA
    if (difference === 0) into.equal++
    else if (difference < 0) into.earlier++
    else into.later++
    differences.set(difference, (differences.get(difference) ?? 0) + 1)
  }
}

function domainEntry(
  domains: Map<string, { table: Counts; runs: number }>,
  name: string,
): { table: Counts; runs: number } {
  const entry = domains.get(name) ?? { table: emptyTable(), runs: 0 }
  domains.set(name, entry)
  return entry
}

function commonLength(a: LabelRow, b: LabelRow): number {
  if (a.interactionCount === b.interactionCount) return a.interactionCount
  throw new AppError(
    'labels-mismatch',
    `the labels of run ${JSON.stringify(a.trajectory)} were made from ${a.interactionCount} and from ` +
      `${b.interactionCount} interactions: annotate the same runs.jsonl twice`,
    { details: { trajectory: a.trajectory } },
  )
}
