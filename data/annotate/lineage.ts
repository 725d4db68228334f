/**
 * The rule-based annotator (DESIGN section 9): follows literals from the interaction that introduced them to the reasoning
 * and actions that take them up. No language model, deterministic, one pass per run.
 *
 * Default rule. READY at c iff some literal that S_i introduced was used by a j with i < j < c (evidence) and none is used
 * by any j >= c (no veto). So b_i = last use + 1; never taken up = KEEP everywhere; READY starts right after the last use.
 */

import { scanReasoningAndAction } from '../../src/evidence/interaction-literals.ts'
import { buildLiteralIndex, type LiteralIndex } from '../../src/evidence/literal-index.ts'
import type { Interaction, Trajectory } from '../../src/trajectory/trajectory.ts'
import { checkRow } from './check-evidence.ts'
import { type EvidenceItem, type InteractionLabel, LABEL_SCHEMA_VERSION, type LabelRow } from './label-record.ts'

export interface LineageOptions {
  /**
   * `veto` (default): every later use vetoes. `excuse`: a use at j >= c does not veto if another interaction k, i < k < c,
   * already restates the literal: whoever needs it can still read it there.
   */
  readonly restated: 'veto' | 'excuse'
  /** Evidence may be any literal that stands in S_i, not only one that S_i introduced. Vetoes stay with introduced ones. */
  readonly anyLiteral: boolean
}

export const DEFAULT_LINEAGE: LineageOptions = { restated: 'veto', anyLiteral: false }

/** Name that the rows carry: the options are part of it. */
export function lineageName(options: LineageOptions): string {
  return ['lineage', options.restated === 'excuse' ? 'restated-excuse' : '', options.anyLiteral ? 'any-literal' : '']
    .filter((part) => part !== '')
    .join('+')
}

/** Labels of every interaction of a run; each evidence item has been checked (throws rows-invalid if one fails). */
export function annotateLineage(trajectory: Trajectory, options: LineageOptions = DEFAULT_LINEAGE): LabelRow {
  const index = buildLiteralIndex(trajectory)
  const occurrences = collectOccurrences(index)
  const row: LabelRow = {
    schemaVersion: LABEL_SCHEMA_VERSION,
    trajectory: trajectory.id,
    annotator: lineageName(options),
    interactionCount: trajectory.interactions.length,
    labels: trajectory.interactions.map((_, position) =>
      labelOf({ trajectory, index, occurrences, position, options }),
    ),
  }
  checkRow(trajectory, row)
  return row
}

/** Positions, ascending, where a literal stands anywhere and where it is used (reasoning or action). */
interface Occurrences {
  readonly standing: ReadonlyMap<string, readonly number[]>
  readonly acted: ReadonlyMap<string, readonly number[]>
}

interface Source {
  readonly trajectory: Trajectory
  readonly index: LiteralIndex
  readonly occurrences: Occurrences
  /** Position of the interaction to label. */
  readonly position: number
  readonly options: LineageOptions
}

interface Use {
  readonly key: string
  /** Position of the interaction that uses it. */
  readonly position: number
}

function labelOf(source: Source): InteractionLabel {
  const { index, position, options } = source
  const canonical = index.canonical[position] ?? position
  const introduced = index.introduced[position] ?? []
  const keep = (reason: string): InteractionLabel => ({ interaction: canonical, boundary: null, evidence: [], reason })

  const candidates = options.anyLiteral ? [...(index.standing[position] ?? [])] : introduced
  const uptake = earliestUse(source, candidates)
  if (uptake === null)
    return keep(
      introduced.length === 0 ? 'introduced no literal' : `none of ${introduced.length} introduced literals taken up`,
    )

  const last = latestVeto(source, introduced)
  // Positions to checkpoints: READY from the first interaction after both the evidence and the last veto.
  const boundaryPosition = Math.max(uptake.position, last?.position ?? -1)
  const boundary = (index.canonical[boundaryPosition] ?? boundaryPosition) + 1
  const evidence: EvidenceItem[] = [itemOf(source, 'uptake', uptake)]
  // At the checkpoint before the boundary the last use was still to come: it vetoes there, if that was a target's checkpoint.
  const vetoUse = last === null ? null : useAtOrAfter(source, introduced, boundaryPosition)
  if (vetoUse !== null && boundary - 1 >= canonical + 2) evidence.push(itemOf(source, 'veto', vetoUse))
  return { interaction: canonical, boundary, evidence, reason: reasonOf(source, uptake, boundaryPosition) }
}

function reasonOf(source: Source, uptake: Use, boundaryPosition: number): string {
  const at = (position: number): number => source.index.canonical[position] ?? position
  const first = `first taken up at ${at(uptake.position)}`
  if (source.options.restated === 'excuse')
    return `${first}, restated elsewhere or last used by ${at(boundaryPosition)}`
  return `${first}, last used at ${at(boundaryPosition)}`
}

function earliestUse(source: Source, keys: readonly string[]): Use | null {
  let earliest: Use | null = null
  for (const key of keys) {
    const position = firstAfter(source.occurrences.acted.get(key), source.position)
    if (position !== null && (earliest === null || position < earliest.position)) earliest = { key, position }
  }
  return earliest
}

/** The literal that keeps S_i longest and the position up to which it does; null if nothing introduced is ever used. */
function latestVeto(source: Source, introduced: readonly string[]): Use | null {
  let latest: Use | null = null
  for (const key of introduced) {
    const used = source.occurrences.acted.get(key)?.at(-1)
    if (used === undefined || used <= source.position) continue
    const restated =
      source.options.restated === 'excuse' ? firstAfter(source.occurrences.standing.get(key), source.position) : null
    const position = restated ?? used
    if (latest === null || position > latest.position) latest = { key, position }
  }
  return latest
}

/** A use of an introduced literal at or after a position, not excused at it: the veto against being READY there. */
function useAtOrAfter(source: Source, introduced: readonly string[], position: number): Use | null {
  for (const key of introduced) {
    const used = source.occurrences.acted.get(key)?.at(-1)
    if (used === undefined || used < position || used <= source.position) continue
    if (source.options.restated === 'excuse') {
      const restated = firstAfter(source.occurrences.standing.get(key), source.position)
      if (restated !== null && restated < position) continue
    }
    return { key, position: used }
  }
  return null
}

/** Positions are ascending. */
function firstAfter(positions: readonly number[] | undefined, after: number): number | null {
  if (positions === undefined) return null
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle] ?? 0) <= after) low = middle + 1
    else high = middle
  }
  return positions[low] ?? null
}

function collectOccurrences(index: LiteralIndex): Occurrences {
  const gather = (sets: readonly ReadonlySet<string>[]): ReadonlyMap<string, readonly number[]> => {
    const positions = new Map<string, number[]>()
    for (const [position, keys] of sets.entries()) {
      for (const key of keys) {
        const list = positions.get(key)
        if (list === undefined) positions.set(key, [position])
        else list.push(position)
      }
    }
    return positions
  }
  return { standing: gather(index.standing), acted: gather(index.acted) }
}

function itemOf(source: Source, kind: EvidenceItem['kind'], use: Use): EvidenceItem {
  const interaction = source.trajectory.interactions[use.position]
  return {
    kind,
    interaction: source.index.canonical[use.position] ?? use.position,
    quote: interaction === undefined ? use.key : spellingOf(interaction, use.key),
  }
}

/** The literal as it stands in the reasoning or action. */
function spellingOf(interaction: Interaction, key: string): string {
  let spelling = key
  let found = false
  scanReasoningAndAction(interaction, (literal) => {
    if (found || literal.key !== key) return
    found = true
    spelling = literal.spelling
  })
  return spelling
}
