/**
 * Labels from gains: READY at c iff S_i mattered for some measured action j < c and for none j >= c (DESIGN section 9).
 * So b_i = last action it mattered for + 1; never = KEEP. Actions that were not measured say nothing. Pure.
 */
import { actionText } from '../../../src/trajectory/interaction-text.ts'
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'
import { takeStart } from '../../../src/view/cut-text.ts'
import { checkRow } from '../check-evidence.ts'
import { type EvidenceItem, type InteractionLabel, LABEL_SCHEMA_VERSION, type LabelRow } from '../label-record.ts'
import { type Gain, mattered } from './gains.ts'

/** Evidence of an interaction that mattered often: its first actions and its last one. */
const MAX_UPTAKES = 4
const QUOTE_CHARS = 80
/** Figures in labels are read by people. */
const DECIMALS = 1e4

export function counterfactualName(model: string): string {
  return `counterfactual:${model}`
}

/**
 * @param verdict.gains of this run, in any order
 * @param verdict.limit in units (gains.ts)
 * @throws rows-invalid if an evidence item does not hold
 */
export function labelRun(
  run: Trajectory,
  verdict: { readonly annotator: string; readonly gains: readonly Gain[]; readonly limit: number },
): LabelRow {
  const { annotator, gains, limit } = verdict
  const gainsOf = new Map<number, Gain[]>()
  for (const gain of [...gains].sort((a, b) => a.action - b.action))
    gainsOf.set(gain.interaction, [...(gainsOf.get(gain.interaction) ?? []), gain])
  const row: LabelRow = {
    schemaVersion: LABEL_SCHEMA_VERSION,
    trajectory: run.id,
    annotator,
    interactionCount: run.interactions.length,
    labels: run.interactions.map((interaction) =>
      labelOf(run, interaction, { gains: gainsOf.get(interaction.index) ?? [], limit }),
    ),
  }
  checkRow(run, row)
  return row
}

function labelOf(
  run: Trajectory,
  { index }: Interaction,
  measured: { readonly gains: readonly Gain[]; readonly limit: number },
): InteractionLabel {
  const { gains, limit } = measured
  const uses = gains.filter((gain) => mattered(gain, limit))
  const last = uses.at(-1)
  if (last === undefined) {
    const reason = gains.length === 0 ? 'no later action was measured' : `mattered for none of ${gains.length} actions`
    return { interaction: index, boundary: null, evidence: [], reason }
  }
  const boundary = last.action + 1
  const item = (kind: EvidenceItem['kind'], gain: Gain): EvidenceItem => ({
    kind,
    interaction: gain.action,
    quote: quoteOf(run, gain.action),
    gain: rounded(gain.nats),
    threshold: rounded(limit * gain.unitNats),
  })
  const shown = uses.length > MAX_UPTAKES ? [...uses.slice(0, MAX_UPTAKES - 1), last] : uses
  const evidence = shown.map((gain) => item('uptake', gain))
  // At the checkpoint before the boundary that action was still to come: it vetoes there, if this was a target by then.
  if (last.action >= index + 2) evidence.push(item('veto', last))
  const reason = `mattered for ${uses.length} of ${gains.length} actions, last for ${last.action}`
  return { interaction: index, boundary, evidence, reason }
}

/** The start of the action that became more probable. */
function quoteOf(run: Trajectory, index: number): string {
  const action = run.interactions.find((interaction) => interaction.index === index)
  return action === undefined ? '' : takeStart(actionText(action).trim(), QUOTE_CHARS).trim()
}

function rounded(nats: number): number {
  return Math.round(nats * DECIMALS) / DECIMALS
}
