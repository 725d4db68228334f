/**
 * Candidate notes of one interaction, taken from its own words by rules: nothing is rephrased, so nothing is made up. Pure.
 * The rules are assumptions; they are meant to be predictable, not clever.
 */
import { scanLiterals } from '../evidence/literals.ts'
import { cutText, toWellFormed } from '../protocol/well-formed.ts'
import { interactionText, observationText } from '../trajectory/interaction-text.ts'
import type { Interaction } from '../trajectory/trajectory.ts'
import { neutraliseMarkup } from './check-summary.ts'
import type { SummaryList, SummaryNote } from './summary-lists.ts'

export interface CandidateNote extends SummaryNote {
  /** Higher is kept first. */
  readonly score: number
}

const NOTE_CHARS = 180
/** Per interaction: long outputs repeat themselves. */
const MAX_LINES_PER_KIND = 4
/** Scores: what the agent still works with, then what went wrong or binds it, then what it concluded, then the log of steps. */
const SCORE = { live: 8, failures: 4, constraints: 4, unresolved: 3, conclusions: 3, locations: 2, facts: 1 } as const

const FAILURE =
  /\b(?:error|errors|exception|traceback|failed|failure|fatal|denied|refused|not found|timed? ?out|no such)\b/i
const CONSTRAINT =
  /\b(?:must|never|only|required|requires|do not|don't|should not|cannot|not allowed|at most|at least)\b/i
const UNRESOLVED = /\b(?:todo|still|remaining|unresolved|pending|unclear|need to|needs to|next step|not yet)\b|\?$/i

/** @param live keys of the literals that the agent still works with */
export function extractNotes(interaction: Interaction, live: ReadonlySet<string>): readonly CandidateNote[] {
  const notes: CandidateNote[] = []
  const counts = new Map<string, number>()
  const add = (list: SummaryList, text: string): void => {
    const found = liveIn(text, live)
    const kind = `${list}${found === null ? '' : ' live'}`
    const count = counts.get(kind) ?? 0
    if (count >= MAX_LINES_PER_KIND || text.trim() === '') return
    counts.set(kind, count + 1)
    const order = interaction.index * 1000 + notes.length
    notes.push({ list, text: clip(text, found), order, score: SCORE[list] + (found === null ? 0 : SCORE.live) })
  }
  for (const sentence of sentences(`${interaction.reasoning}\n${interaction.text}`))
    add(listOfSentence(sentence), sentence)
  const outcome = firstLine(observationText(interaction))
  for (const call of interaction.toolCalls)
    add(
      'facts',
      `${call.name}(${cutText(call.arguments, NOTE_CHARS / 2)})${outcome === '' ? '' : ` -> ${cutText(outcome, NOTE_CHARS / 2)}`}`,
    )
  let failures = 0
  let facts = 0
  for (const line of lines(observationText(interaction))) {
    if (failures >= MAX_LINES_PER_KIND && facts >= MAX_LINES_PER_KIND) break
    if (failures < MAX_LINES_PER_KIND && FAILURE.test(line)) {
      failures++
      add('failures', line)
    } else if (facts < MAX_LINES_PER_KIND && live.size > 0 && liveIn(line, live) !== null) {
      facts++
      add('facts', line)
    }
  }
  const places = locations(interaction)
  if (places.length > 0) add('locations', places.join(' | '))
  if (notes.length === 0) add('conclusions', firstLine(interactionText(interaction)))
  return notes
}

function listOfSentence(sentence: string): SummaryList {
  if (CONSTRAINT.test(sentence)) return 'constraints'
  return UNRESOLVED.test(sentence) ? 'unresolved' : 'conclusions'
}

/** Paths, file names and addresses that the agent acted on, each once. */
function locations(interaction: Interaction): readonly string[] {
  const found = new Map<string, string>()
  for (const call of interaction.toolCalls) {
    scanLiterals(call.arguments, ({ kind, key, spelling }) => {
      if ((kind === 'path' || kind === 'url') && found.size < MAX_LINES_PER_KIND) found.set(key, spelling)
    })
  }
  return [...found.values()]
}

/** Spelling of the first live literal in the text, or null. */
function liveIn(text: string, live: ReadonlySet<string>): string | null {
  let first: string | null = null
  scanLiterals(text, ({ key, spelling }) => {
    if (first === null && live.has(key)) first = spelling
  })
  return first
}

/** One line of at most NOTE_CHARS characters, around the literal that matters if there is one. */
function clip(text: string, around: string | null): string {
  const flat = toWellFormed(text).replace(/\s+/g, ' ').trim()
  if (flat.length <= NOTE_CHARS) return neutraliseMarkup(flat)
  const at = around === null ? 0 : Math.max(0, flat.indexOf(around))
  const start = at + (around?.length ?? 0) < NOTE_CHARS ? 0 : Math.max(0, at - NOTE_CHARS / 3)
  const cut = toWellFormed(cutText(flat.slice(start), NOTE_CHARS)).replaceAll('\ufffd', '')
  return neutraliseMarkup(`${start > 0 ? '...' : ''}${cut}...`)
}

function* lines(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const line = text.slice(from, end === -1 ? text.length : end).trim()
    if (line !== '') yield line
    from = end === -1 ? text.length : end + 1
  }
}

function* sentences(text: string): Generator<string> {
  for (const line of lines(text)) yield* line.split(/(?<=[.!?])\s+/).filter((sentence) => sentence.length >= 12)
}

function firstLine(text: string): string {
  for (const line of lines(text)) if (/[\p{L}\p{N}]/u.test(line)) return line
  return ''
}
