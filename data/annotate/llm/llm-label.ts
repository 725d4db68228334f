/**
 * Verdicts -> the labels that every annotator writes. Pure.
 */
import { takeStart } from '../../../src/view/cut-text.ts'
import { evidenceProblem } from '../check-evidence.ts'
import type { EvidenceItem, InteractionLabel } from '../label-record.ts'
import { proposedPoints, type TargetRecords, type Verdict } from './check-stage-two.ts'
import { FAILURE_MEANING, type FailureCode } from './failure.ts'
import type { RunText } from './run-text.ts'

const REASON_CHARS = 300

/**
 * A row keeps the evidence of the boundary and the vetoes that explain the checkpoint before it (at N - 1 where there is no
 * boundary); earlier vetoes are told in the reason.
 */
export function verdictLabel(run: RunText, interaction: number, verdict: Verdict): InteractionLabel {
  const { boundary } = verdict
  const end = boundary ?? run.original.interactions.length
  const uptake = verdict.evidence.map((quote): EvidenceItem => ({ kind: 'uptake', ...quote }))
  const vetoes = verdict.vetoes
    .map((quote): EvidenceItem => ({ kind: 'veto', ...quote }))
    .filter((item) => evidenceProblem(run.original, { target: interaction, checkpoint: end - 1, item }) === null)
  const last = verdict.vetoes.at(-1)
  const vetoed = last === undefined ? '' : `vetoed up to ${last.interaction}; `
  return {
    interaction,
    boundary,
    evidence: distinct([...uptake, ...vetoes]),
    reason: shorten(`${vetoed}${verdict.reason === '' ? 'no reason given' : verdict.reason}`),
  }
}

/** An interaction without a verdict: never proposed, or left unresolved. */
export function keepLabel(
  interaction: number,
  why: { readonly records: TargetRecords; readonly failed: FailureCode | null; readonly tooLong: boolean },
): InteractionLabel {
  return { interaction, boundary: null, evidence: [], reason: keepReason(why) }
}

function keepReason({ records, failed, tooLong }: Parameters<typeof keepLabel>[1]): string {
  if (tooLong) return `unresolved: ${FAILURE_MEANING['too-long']}`
  if (failed !== null) return `unresolved in stage 2: ${FAILURE_MEANING[failed]}`
  if (records.length === 0) return 'no target of a judged checkpoint'
  const valid = records.filter(({ record }) => record !== null).length
  const proposed = proposedPoints(records).length
  if (valid === 0) return `unresolved in stage 1: none of ${records.length} records valid`
  return `READY proposed at ${proposed} of ${records.length} checkpoints (${valid} valid records)`
}

function distinct(items: readonly EvidenceItem[]): readonly EvidenceItem[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = JSON.stringify([item.kind, item.interaction, item.quote])
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  })
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > REASON_CHARS ? `${takeStart(line, REASON_CHARS)}...` : line
}
