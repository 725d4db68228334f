/**
 * A reviewer's corrections, applied to labels. Pure: everything is checked before anything is changed, and what a
 * correction replaces stands in the new reason, so that no verdict is lost.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { evidenceProblem, rowProblems } from './check-evidence.ts'
import type { EvidenceItem, InteractionLabel, LabelRow } from './label-record.ts'

/** One line of a corrections file (docs/labels.md). */
export interface Correction {
  /** Id of the run, in full. */
  readonly run: string
  readonly interaction: number
  /** New b_i; null = KEEP everywhere. */
  readonly boundary: number | null
  /** New evidence; absent: the items of the label that still hold. */
  readonly evidence?: readonly EvidenceItem[]
  readonly reason: string
  readonly reviewer: string
}

export interface NumberedCorrection {
  /** 1-based line of the file. */
  readonly line: number
  readonly correction: Correction
}

export interface CorrectionProblem {
  readonly line: number
  readonly reason: string
}

/** What one correction did. */
export interface AppliedCorrection {
  readonly line: number
  readonly run: string
  readonly interaction: number
  readonly before: InteractionLabel
  readonly after: InteractionLabel
}

export type CorrectedLabels =
  | { readonly ok: true; readonly rows: readonly LabelRow[]; readonly applied: readonly AppliedCorrection[] }
  /** All problems, by line: nothing is applied. */
  | { readonly ok: false; readonly problems: readonly CorrectionProblem[] }

/**
 * Rows without a correction come back as they were, and in the same order; corrected rows carry the reviewers in their
 * annotator's name. Each correction must fit its run: indices, boundary in [i+2, N], quotes that stand literally in the
 * interactions they name (the same checks as for every annotator, check-evidence.ts).
 */
export function applyCorrections(given: {
  readonly runs: readonly Trajectory[]
  readonly rows: readonly LabelRow[]
  readonly corrections: readonly NumberedCorrection[]
}): CorrectedLabels {
  const runOf = new Map(given.runs.map((run) => [run.id, run]))
  const rowOf = new Map(given.rows.map((row) => [row.trajectory, row]))
  const problems: CorrectionProblem[] = []
  const applied: AppliedCorrection[] = []
  const lineOf = new Map<string, number>()
  for (const { line, correction } of given.corrections) {
    const key = JSON.stringify([correction.run, correction.interaction])
    const earlier = lineOf.get(key)
    const checked =
      earlier === undefined
        ? correctedLabel(correction, runOf.get(correction.run), rowOf.get(correction.run))
        : [`line ${earlier} corrects interaction ${correction.interaction} of this run already`]
    lineOf.set(key, earlier ?? line)
    if ('after' in checked) applied.push({ line, run: correction.run, interaction: correction.interaction, ...checked })
    else problems.push(...checked.map((reason) => ({ line, reason })))
  }
  if (problems.length > 0) return { ok: false, problems }
  const reviewersOf = new Map<string, string[]>()
  const labelsOf = new Map<string, Map<number, InteractionLabel>>()
  for (const { correction } of given.corrections)
    reviewersOf.set(correction.run, [...(reviewersOf.get(correction.run) ?? []), correction.reviewer])
  for (const { run, interaction, after } of applied)
    labelsOf.set(run, (labelsOf.get(run) ?? new Map<number, InteractionLabel>()).set(interaction, after))
  const rows = given.rows.map((row): LabelRow => {
    const changed = labelsOf.get(row.trajectory)
    if (changed === undefined) return row
    return {
      ...row,
      annotator: editedName(row.annotator, reviewersOf.get(row.trajectory) ?? []),
      labels: row.labels.map((label) => changed.get(label.interaction) ?? label),
    }
  })
  return { ok: true, rows, applied }
}

const EDITS = '+edits:'

/** `lineage` edited by ann, then by bob: `lineage+edits:ann,bob`. */
export function editedName(annotator: string, reviewers: readonly string[]): string {
  const at = annotator.indexOf(EDITS)
  const base = at === -1 ? annotator : annotator.slice(0, at)
  const before = at === -1 ? [] : annotator.slice(at + EDITS.length).split(',')
  return `${base}${EDITS}${[...new Set([...before, ...reviewers])].sort().join(',')}`
}

/** The label before and after, or why the correction does not hold. */
function correctedLabel(
  correction: Correction,
  run: Trajectory | undefined,
  row: LabelRow | undefined,
): { readonly before: InteractionLabel; readonly after: InteractionLabel } | readonly string[] {
  const { interaction, boundary } = correction
  if (run === undefined) return [`there is no run ${JSON.stringify(correction.run)} in the runs file`]
  if (row === undefined) return [`the labels file has no row for run ${JSON.stringify(correction.run)}`]
  const count = run.interactions.length
  if (row.interactionCount !== count)
    return [`the labels were made from ${row.interactionCount} interactions, the run has ${count}`]
  const before = row.labels.find((label) => label.interaction === interaction)
  if (before === undefined)
    return [`interaction ${interaction} has no label: the run's interactions are 0 to ${count - 1}`]
  if (boundary !== null && boundary < interaction + 2)
    return [
      `boundary ${boundary} is too early: interaction ${interaction} is a target from ${interaction + 2} on; null means KEEP everywhere`,
    ]
  if (boundary !== null && boundary > count)
    return [`boundary ${boundary} is past the run's ${count} interactions; null means KEEP everywhere`]
  const evidence = correction.evidence ?? before.evidence.filter((item) => holds(run, interaction, boundary, item))
  const after: InteractionLabel = { interaction, boundary, evidence, reason: editedReason(correction, before) }
  const problems = rowProblems(run, { ...row, labels: [after] })
  if (problems.length === 0) return { before, after }
  const advice =
    correction.evidence === undefined && boundary !== null
      ? ' (no item of the old evidence supports this boundary: give "evidence")'
      : ''
  return problems.map((problem) => `${problem}${advice}`)
}

/** Does an old item still say something true at the new boundary? */
function holds(run: Trajectory, target: number, boundary: number | null, item: EvidenceItem): boolean {
  const end = run.interactions.length
  const checkpoint = item.kind === 'veto' ? (boundary ?? end) - 1 : (boundary ?? Number.POSITIVE_INFINITY)
  return evidenceProblem(run, { target, checkpoint, item }) === null
}

function editedReason({ reviewer, reason }: Correction, before: InteractionLabel): string {
  const verdict = before.boundary === null ? 'KEEP' : `READY from ${before.boundary}`
  const quotes = before.evidence
    .map((item) => ` ${item.kind} ${item.interaction} ${JSON.stringify(item.quote)}`)
    .join(',')
  return `${reviewer}: ${reason} [before: ${verdict}${before.reason === '' ? '' : `, ${before.reason}`}${quotes === '' ? '' : `;${quotes}`}]`
}
