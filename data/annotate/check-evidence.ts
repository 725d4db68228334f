/**
 * The check of evidence is code, not trust (DESIGN section 9): every item must point at a real interaction on the right
 * side of the checkpoint, and its quote must stand there. Used on every write of labels, for all annotators.
 */

import { AppError } from '../../src/errors.ts'
import { readArguments } from '../../src/evidence/interaction-literals.ts'
import { interactionText } from '../../src/trajectory/interaction-text.ts'
import type { Interaction, Trajectory } from '../../src/trajectory/trajectory.ts'
import type { EvidenceItem, LabelRow } from './label-record.ts'

/** What an item is held against: target i and checkpoint c. */
export interface EvidenceClaim {
  /** i. */
  readonly target: number
  /** c: `uptake` must lie before it, `veto` at or after it. */
  readonly checkpoint: number
  readonly item: EvidenceItem
}

/** Why an item does not hold, null if it does. */
export function evidenceProblem(trajectory: Trajectory, claim: EvidenceClaim): string | null {
  const { target, checkpoint, item } = claim
  const j = item.interaction
  if (j <= target) return `interaction ${j} does not come after its target ${target}`
  if (item.kind === 'uptake' && j >= checkpoint)
    return `uptake at interaction ${j} is not before checkpoint ${checkpoint}`
  if (item.kind === 'veto' && j < checkpoint) return `veto at interaction ${j} is before checkpoint ${checkpoint}`
  const interaction = trajectory.interactions.find((candidate) => candidate.index === j)
  if (interaction === undefined) return `there is no interaction ${j}`
  if (normaliseBlanks(item.quote) === '') return `the quote for interaction ${j} is empty`
  if (!quoteOccurs(item.quote, interaction)) return `the quote ${JSON.stringify(item.quote)} does not stand in it`
  return null
}

/**
 * All problems of a row: against its trajectory's size, order and boundaries, then item by item. An `uptake` must support
 * READY at the boundary b_i; a `veto` must explain KEEP at the checkpoint before it (at N - 1 where there is no boundary).
 */
export function rowProblems(trajectory: Trajectory, row: LabelRow): readonly string[] {
  const problems: string[] = []
  const count = trajectory.interactions.length
  if (row.trajectory !== trajectory.id) problems.push(`the row is for ${row.trajectory}, not for ${trajectory.id}`)
  if (row.interactionCount !== count)
    problems.push(`the row was made from ${row.interactionCount} interactions, the trajectory has ${count}`)
  const known = new Set(trajectory.interactions.map((interaction) => interaction.index))
  const seen = new Set<number>()
  for (const label of row.labels) {
    const where = `interaction ${label.interaction}`
    if (!known.has(label.interaction)) problems.push(`${where} is labelled but does not exist`)
    if (seen.has(label.interaction)) problems.push(`${where} is labelled twice`)
    seen.add(label.interaction)
    if (label.boundary !== null && label.boundary < label.interaction + 2)
      problems.push(`${where}: boundary ${label.boundary} makes the newest interaction READY`)
    if (label.boundary !== null && !label.evidence.some((item) => item.kind === 'uptake'))
      problems.push(`${where}: READY from ${label.boundary} without evidence of uptake`)
    for (const item of label.evidence) {
      if (item.kind === 'uptake' && label.boundary === null) {
        // Taken up, yet KEEP everywhere: the item supports no checkpoint; it must still be true of the run.
        const problem = evidenceProblem(trajectory, { target: label.interaction, checkpoint: Infinity, item })
        if (problem !== null) problems.push(`${where}: ${problem}`)
        continue
      }
      const checkpoint = item.kind === 'uptake' ? (label.boundary ?? count) : (label.boundary ?? count) - 1
      const problem = evidenceProblem(trajectory, { target: label.interaction, checkpoint, item })
      if (problem !== null) problems.push(`${where}: ${problem}`)
    }
  }
  return problems
}

/** Throws rows-invalid with the first problems of a row. */
export function checkRow(trajectory: Trajectory, row: LabelRow): void {
  const problems = rowProblems(trajectory, row)
  if (problems.length === 0) return
  throw new AppError(
    'rows-invalid',
    `labels of ${row.trajectory} by ${row.annotator}: ${problems.length} problem(s), first: ${problems.slice(0, 3).join('; ')}. Annotate this run again.`,
    { details: { trajectory: row.trajectory, problems: problems.slice(0, 20) } },
  )
}

/** A quote stands in S_j as logged, or in the decoded values of its calls' JSON arguments; blanks count as one. */
export function quoteOccurs(quote: string, interaction: Interaction): boolean {
  const wanted = normaliseBlanks(quote)
  if (normaliseBlanks(interactionText(interaction)).includes(wanted)) return true
  return interaction.toolCalls.some((call) =>
    readArguments(call).values.some((value) => normaliseBlanks(value).includes(wanted)),
  )
}

function normaliseBlanks(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
