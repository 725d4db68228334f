/**
 * One labelled interaction in detail: what it is, what is said about it, and each quote where it stands. Text in, text out.
 */
import type { EvidenceItem, InteractionLabel } from '../../data/annotate/label-record.ts'
import { readArguments } from '../evidence/interaction-literals.ts'
import { actionText, interactionText, observationText, reasoningText } from '../trajectory/interaction-text.ts'
import type { Interaction, Trajectory } from '../trajectory/trajectory.ts'
import type { TimelineLook } from './label-timeline.ts'
import { cutTo, displayWidth, oneLine, type Paint, painter } from './terminal-text.ts'

/** Where a quote stands: the text around it, blanks made one. */
export interface QuoteContext {
  readonly before: string
  readonly quote: string
  readonly after: string
}

/** Null when the quote does not stand in S_j (labels are checked when they are written, runs may have changed since). */
export function findQuote(interaction: Interaction, quote: string, chars: number): QuoteContext | null {
  const wanted = oneBlank(quote)
  const texts = [
    interactionText(interaction),
    ...interaction.toolCalls.flatMap((call) => readArguments(call).values),
  ].map(oneBlank)
  for (const text of texts) {
    const at = text.indexOf(wanted)
    if (at === -1) continue
    const end = at + wanted.length
    return {
      before: `${at > chars ? '\u2026' : ''}${text.slice(Math.max(0, at - chars), at)}`,
      quote: wanted,
      after: `${text.slice(end, end + chars)}${text.length - end > chars ? '\u2026' : ''}`,
    }
  }
  return null
}

export function detailText(
  run: Trajectory,
  interaction: Interaction,
  label: InteractionLabel | null,
  look: TimelineLook,
): string {
  const paint = painter(look.colour)
  const { index } = interaction
  const length = run.interactions.length
  const parts: readonly (readonly [string, string])[] = [
    ['reasoning', reasoningText(interaction)],
    ['action', actionText(interaction)],
    ['observed', observationText(interaction)],
  ]
  return [
    paint(
      'bold',
      cutTo(
        `${oneLine(run.id)}, interaction ${index} of ${length}${interaction.actor === null ? '' : `, by ${oneLine(interaction.actor)}`}`,
        look.width,
      ),
    ),
    ...parts
      .filter(([, text]) => text !== '')
      .map(([name, text]) => cutTo(`${name.padEnd(10)}${oneLine(text)}`, look.width * SHOWN_LINES)),
    '',
    verdictText(label, length, paint),
    ...(label?.evidence ?? []).flatMap((item) => ['', ...evidenceLines(run, item, look, paint)]),
  ].join('\n')
}

/** Lines of reasoning, action and observation that are shown at most. */
const SHOWN_LINES = 3

function verdictText(label: InteractionLabel | null, length: number, paint: Paint): string {
  if (label === null) return 'no label'
  const { boundary } = label
  const verdict =
    boundary === null
      ? 'KEEP at every checkpoint'
      : boundary >= length
        ? 'KEEP at every checkpoint of the run: used till its end'
        : `READY from checkpoint ${boundary} on`
  return `${paint('bold', verdict)}: ${oneLine(label.reason)}`
}

function evidenceLines(run: Trajectory, item: EvidenceItem, look: TimelineLook, paint: Paint): readonly string[] {
  const gain = item.gain === undefined ? '' : `, gain ${item.gain} nats (threshold ${item.threshold ?? '?'})`
  const head = `${item.kind} at interaction ${item.interaction}${gain}:`
  const interaction = run.interactions.find((candidate) => candidate.index === item.interaction)
  const found = interaction === undefined ? null : findQuote(interaction, item.quote, Math.max(20, look.width - 8))
  if (found === null) return [head, cutTo(`  "${oneLine(item.quote)}" does not stand there`, look.width)]
  const quote = look.colour ? paint('quote', oneLine(found.quote)) : `>>${oneLine(found.quote)}<<`
  // One blank in place of each run of blanks, so blanks beside the quote are kept by hand.
  const before = `${oneLine(found.before)}${/\s$/.test(found.before) ? ' ' : ''}`
  const after = `${/^\s/.test(found.after) ? ' ' : ''}${oneLine(found.after)}`
  return [head, `  ${lastColumns(before, look.width - 2)}${quote}${cutTo(after, look.width - 2)}`]
}

function lastColumns(text: string, width: number): string {
  const characters = [...text]
  let used = 0
  let start = characters.length
  while (start > 0 && used + displayWidth(characters[start - 1] ?? '') <= width)
    used += displayWidth(characters[--start] ?? '')
  return characters.slice(start).join('')
}

function oneBlank(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
