/**
 * A labelled run as a timeline for a person: one row an interaction, its life across checkpoints as a bar. Text in, text out.
 */
import type { EvidenceItem, InteractionLabel, LabelRow } from '../../data/annotate/label-record.ts'
import { countActingTokens } from '../../models/tokenizer/acting-tokens.ts'
import { interactionText } from '../trajectory/interaction-text.ts'
import type { Interaction, Trajectory, Turn } from '../trajectory/trajectory.ts'
import { cutTo, fitTo, oneLine, type Paint, painter } from './terminal-text.ts'

export interface TimelineLook {
  /** Columns of the terminal. */
  readonly width: number
  readonly colour: boolean
}

/** One interaction as data: what --json prints. */
export interface TimelineEntry {
  readonly interaction: number
  readonly actor: string | null
  readonly tools: readonly string[]
  /** o200k tokens of S_i. */
  readonly tokens: number
  readonly label: InteractionLabel | null
}

export function timelineEntries(run: Trajectory, row: LabelRow): readonly TimelineEntry[] {
  const labelOf = new Map(row.labels.map((label) => [label.interaction, label]))
  return run.interactions.map((interaction) => ({
    interaction: interaction.index,
    actor: interaction.actor,
    tools: interaction.toolCalls.map((call) => call.name),
    tokens: countActingTokens(interactionText(interaction)),
    label: labelOf.get(interaction.index) ?? null,
  }))
}

export const MIN_WIDTH = 60

/** A head of five lines, then the rows, user turns and summaries between them. No line is wider than `look.width`. */
export function timelineText(run: Trajectory, row: LabelRow, look: TimelineLook): string {
  const paint = painter(look.colour)
  const columns = columnsOf(run, Math.max(MIN_WIDTH, look.width))
  const entries = timelineEntries(run, row)
  const ready = entries.filter(({ label }) => label !== null && isReadyWithin(label, columns.length)).length
  const lines = [
    paint('bold', cutTo(`${oneLine(run.id)}  (${oneLine(run.domain)}, group ${oneLine(run.group)})`, columns.width)),
    cutTo(
      `${columns.length} interactions, ${ready} become READY, labelled by ${oneLine(row.annotator)}${run.truncated ? '; the run was cut by a limit' : ''}`,
      columns.width,
    ),
    cutTo(`task: ${oneLine(run.task)}`, columns.width),
    paint(
      'dim',
      cutTo(
        `${MADE} made  ${KEEP} KEEP  ${READY} READY  u first taken up  v last use (vetoes till then)`,
        columns.width,
      ),
    ),
    '',
    headLine(columns),
  ]
  let turn = 0
  for (const entry of entries) {
    for (; (run.turns[turn]?.before ?? Number.POSITIVE_INFINITY) <= entry.interaction; turn++)
      lines.push(turnLine(run.turns[turn], columns, paint))
    lines.push(entryLine(entry, columns, paint))
  }
  for (; turn < run.turns.length; turn++) lines.push(turnLine(run.turns[turn], columns, paint))
  return lines.map((line) => line.trimEnd()).join('\n')
}

const MADE = '\u25cf'
const KEEP = '\u2500'
const READY = '\u2588'

interface Columns {
  readonly width: number
  readonly index: number
  readonly who: number
  readonly tokens: number
  readonly from: number
  readonly bar: number
  readonly evidence: number
  /** N. */
  readonly length: number
}

function columnsOf(run: Trajectory, width: number): Columns {
  const length = run.interactions.length
  const index = Math.max(3, String(length).length)
  const tokens = 6
  const from = Math.max(5, String(length).length)
  const longest = Math.max(4, ...run.interactions.map((interaction) => whoOf(interaction).length))
  const who = Math.min(longest, Math.floor(width / 5))
  const bar = Math.min(length + 1, Math.floor(width / 4))
  // Two blanks between columns.
  return { width, index, who, tokens, from, bar, length, evidence: width - index - who - tokens - from - bar - 10 }
}

function headLine(columns: Columns): string {
  return joinColumns(columns, [
    'i',
    'who',
    'tokens',
    'READY',
    `0${fitTo(`c=${columns.length}`, columns.bar - 1, 'end')}`,
    'evidence',
  ])
}

function joinColumns(columns: Columns, cells: readonly [string, string, string, string, string, string]): string {
  const [index, who, tokens, from, bar, evidence] = cells
  return [
    fitTo(index, columns.index, 'end'),
    fitTo(who, columns.who),
    fitTo(tokens, columns.tokens, 'end'),
    fitTo(from, columns.from, 'end'),
    fitTo(bar, columns.bar),
    cutTo(evidence, columns.evidence),
  ].join('  ')
}

function entryLine(entry: TimelineEntry, columns: Columns, paint: Paint): string {
  const { label } = entry
  const cells = [
    fitTo(String(entry.interaction), columns.index, 'end'),
    fitTo(whoOf(entry), columns.who),
    fitTo(shortCount(entry.tokens), columns.tokens, 'end'),
    fitTo(fromCell(label, columns.length), columns.from, 'end'),
    barOf(entry, columns, paint),
    cutTo(label === null ? 'no label' : evidenceCell(label), columns.evidence),
  ]
  return cells.join('  ')
}

function fromCell(label: InteractionLabel | null, length: number): string {
  if (label === null || label.boundary === null) return '-'
  return label.boundary >= length ? 'end' : String(label.boundary)
}

function isReadyWithin(label: InteractionLabel, length: number): boolean {
  return label.boundary !== null && label.boundary < length
}

/** Tool names (`Read x3`), behind the actor where a run has several. */
function whoOf(of: Pick<Interaction, 'actor' | 'toolCalls'> | TimelineEntry): string {
  const names = 'tools' in of ? of.tools : of.toolCalls.map((call) => call.name)
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const tools = [...counts]
    .map(([name, count]) => (count === 1 ? oneLine(name) : `${oneLine(name)} x${count}`))
    .join(', ')
  if (of.actor === null) return tools === '' ? 'text' : tools
  return tools === '' ? oneLine(of.actor) : `${oneLine(of.actor)}: ${tools}`
}

/** Checkpoint c stands in column floor(c * bar / (N + 1)): one column a checkpoint where there is room. */
function barOf({ interaction, label }: TimelineEntry, columns: Columns, paint: Paint): string {
  const columnOf = (checkpoint: number): number =>
    Math.min(columns.bar - 1, Math.floor((checkpoint * columns.bar) / (columns.length + 1)))
  const made = columnOf(interaction)
  const cells: string[] = Array.from({ length: columns.bar }, (_, column) => (column < made ? ' ' : KEEP))
  const boundary = label?.boundary ?? null
  const readyFrom = boundary === null ? columns.bar : columnOf(boundary)
  cells.fill(READY, Math.max(readyFrom, made + 1))
  for (const item of label?.evidence ?? [])
    if (columnOf(item.interaction) < Math.max(readyFrom, made + 1))
      cells[columnOf(item.interaction)] = item.kind === 'uptake' ? 'u' : 'v'
  cells[made] = MADE
  const split = Math.max(readyFrom, made + 1)
  return paint('dim', cells.slice(0, split).join('')) + paint('ready', cells.slice(split).join(''))
}

function evidenceCell(label: InteractionLabel): string {
  if (label.evidence.length === 0) return oneLine(label.reason)
  return label.evidence.map(evidenceText).join('  ')
}

function evidenceText(item: EvidenceItem): string {
  return `${item.kind === 'uptake' ? 'u' : 'v'}${item.interaction} "${oneLine(item.quote)}"`
}

function turnLine(turn: Turn | undefined, columns: Columns, paint: Paint): string {
  if (turn === undefined) return ''
  return paint('dim', cutTo(`${' '.repeat(columns.index + 2)}[${turn.kind}] ${oneLine(turn.text)}`, columns.width))
}

/** 950, 1.2k, 38k, 1.3M. */
function shortCount(value: number): string {
  if (value < 1000) return String(value)
  if (value < 999_500) return value < 9950 ? `${(value / 1000).toFixed(1)}k` : `${Math.round(value / 1000)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}
