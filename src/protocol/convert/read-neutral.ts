/**
 * A history of any format in the provider-free form. Pure.
 * Calls and results are paired by the partition, so reused ids and calls without ids come out right.
 */
import { flattenContent } from '../flatten-content.ts'
import type { History, JsonValue } from '../history.ts'
import { placeOf } from '../json-pointer.ts'
import { describeMedia } from '../media.ts'
import { type OpenCall, pairResult } from '../open-calls.ts'
import { type Draft, type DraftInteraction, partitionHistory } from '../partition.ts'
import { readMedia } from '../read-media.ts'
import { readSegments } from '../read-segments.ts'
import { CLOSING_TEXT } from '../repair/place-results.ts'
import { type IdRules, isSafeId, makeSafeId } from '../safe-ids.ts'
import { type CallSegment, describeOpaque, isObject, type ResultSegment, type Segment } from '../segment.ts'
import { systemText } from '../system-text.ts'
import { valueAt } from '../value-at.ts'
import type { NeutralCall, NeutralPart, NeutralResult, NeutralTurn } from './neutral.ts'

/** Accepted by every provider (A14, C4). */
const NEUTRAL_IDS: IdRules = { pattern: /^[a-zA-Z0-9_-]+$/, maxChars: 40 }

export interface NeutralHistory {
  readonly turns: readonly NeutralTurn[]
  /** What the form does not hold, one line each time. */
  readonly losses: readonly string[]
}

/** @param history without violations: see repairHistory */
export function readNeutral(history: History): NeutralHistory {
  const losses: string[] = []
  const { drafts } = partitionHistory(history)
  const idOf = assignIds(drafts)
  const system = systemText(history.system?.value)
  const turns: NeutralTurn[] = system === '' ? [] : [{ kind: 'system', text: system }]
  for (const draft of drafts) {
    if (draft.kind === 'interaction') turns.push(...readInteraction(draft, { history, idOf, losses }))
    else turns.push(...readTurn(draft, { history, losses }))
  }
  return { turns, losses }
}

function readTurn(
  draft: Exclude<Draft, DraftInteraction>,
  { history, losses }: { readonly history: History; readonly losses: string[] },
): readonly NeutralTurn[] {
  const message = history.messages[draft.message]
  const segments =
    draft.kind === 'summary' && message !== undefined
      ? readSegments(history, message, draft.message)
      : draft.kind === 'turn'
        ? draft.segments
        : []
  if (draft.kind === 'turn' && draft.what === 'system') {
    const text = segments.map((segment) => ('text' in segment ? segment.text : '')).join('\n')
    return text.trim() === '' ? [] : [{ kind: 'system', text }]
  }
  const isOpaque = draft.kind === 'turn' && draft.what === 'opaque'
  const said = isOpaque ? segments.filter((segment) => saysItself(segment, losses)) : segments
  const parts = readParts(said, losses)
  if (parts.length > 0) return [{ kind: 'user', parts }]
  if (!isOpaque) losses.push('a user message without content')
  return []
}

/** State of the provider that another one cannot read says nothing there, unless it holds a text of its own. */
function saysItself(segment: Segment, losses: string[]): boolean {
  if (segment.kind === 'opaque' && segment.text === describeOpaque(segment.type)) {
    losses.push(`an item of type ${segment.type}, which means something to its provider alone`)
    return false
  }
  return segment.kind === 'opaque' || segment.kind === 'text'
}

function readInteraction(
  draft: DraftInteraction,
  {
    history,
    idOf,
    losses,
  }: { readonly history: History; readonly idOf: ReadonlyMap<CallSegment, string>; readonly losses: string[] },
): readonly NeutralTurn[] {
  if (draft.segments.some(({ kind }) => kind === 'reasoning'))
    losses.push('the reasoning of a model call: it is bound to its provider')
  const parts = readParts(draft.segments, losses)
  const calls = draft.calls.map(
    ({ call }): NeutralCall => ({
      id: idOf.get(call) ?? '',
      name: call.name,
      arguments: objectText(call.arguments, losses),
    }),
  )
  if (parts.length === 0 && calls.length === 0) return []
  const open = draft.calls.map(({ call }): OpenCall => ({ owner: draft.owner, call, answered: false }))
  const answers = new Map<CallSegment, ResultSegment>()
  for (const result of draft.results) {
    const pairing = pairResult(open, result)
    if (pairing.kind === 'answers') answers.set(pairing.call.call, result)
  }
  const results = draft.calls.flatMap(({ call }): readonly NeutralResult[] => {
    const result = answers.get(call)
    if (result === undefined) return []
    // Formats without an error mark hold a repair's closing result as text alone.
    const isError = result.isError || result.content === CLOSING_TEXT
    return [{ id: idOf.get(call) ?? '', name: call.name, parts: readResult(history, result), isError }]
  })
  const turn: NeutralTurn = { kind: 'assistant', parts, calls }
  return results.length === 0 ? [turn] : [turn, { kind: 'results', results }]
}

function readParts(segments: readonly Segment[], losses: string[]): readonly NeutralPart[] {
  return segments.flatMap((segment): readonly NeutralPart[] => {
    if (segment.kind === 'text') return segment.text.trim() === '' ? [] : [{ kind: 'text', text: segment.text }]
    if (segment.kind !== 'opaque') return []
    if (segment.media !== null) return [{ kind: 'media', media: segment.media }]
    losses.push(`a part of type ${segment.type}: a description stands in its place`)
    return segment.text.trim() === '' ? [] : [{ kind: 'text', text: segment.text }]
  })
}

/** Text and media in their order where the result holds a list, else its text with the media behind it. */
function readResult(history: History, result: ResultSegment): readonly NeutralPart[] {
  const text = (said: string): readonly NeutralPart[] => (said.trim() === '' ? [] : [{ kind: 'text', text: said }])
  if (result.media.length === 0) return text(result.content)
  const { index, path } = placeOf(result.pointer)
  const list = contentList(valueAt(history.messages[index]?.value ?? {}, path))
  if (list === null)
    return [...text(withoutMarks(result)), ...result.media.map((media): NeutralPart => ({ kind: 'media', media }))]
  return list.flatMap((block): readonly NeutralPart[] => {
    const media = readMedia(block)
    return media === null ? text(flattenContent([block]).text) : [{ kind: 'media', media }]
  })
}

/** The text of a result without the bracketed kinds of its media at the end (Gemini: media stand beside the response). */
function withoutMarks({ content, media }: ResultSegment): string {
  const marks = media.map(describeMedia).join('\n')
  return content.endsWith(marks) ? content.slice(0, content.length - marks.length).replace(/\n$/, '') : content
}

/** The list of blocks inside a result: `content` (Anthropic, OpenAI), `output` (Responses), `output.value` (AI SDK). */
function contentList(value: JsonValue | undefined): readonly JsonValue[] | null {
  if (!isObject(value)) return null
  const { content, output } = value
  for (const list of [content, output, isObject(output) ? (output.value ?? output.content) : undefined])
    if (Array.isArray(list)) return list
  return null
}

/** What was no JSON object stands in one, so that every provider takes it. */
function objectText(text: string, losses: string[]): string {
  if (text.trim() === '') return '{}'
  try {
    const value: JsonValue = JSON.parse(text)
    if (isObject(value)) return text
  } catch {
    losses.push('arguments that are no JSON: they stand in {"input": ...}')
    return JSON.stringify({ input: text })
  }
  losses.push('arguments that are no JSON object: they stand in {"input": ...}')
  return JSON.stringify({ input: text })
}

/** Each call's own id where it is safe and not used before, else one made from it, or from its place. */
function assignIds(drafts: readonly Draft[]): ReadonlyMap<CallSegment, string> {
  const calls = drafts.flatMap((draft) =>
    draft.kind === 'interaction'
      ? draft.calls.map(({ call }, number) => ({ call, place: `call_${draft.index}_${number}` }))
      : [],
  )
  const taken = new Set(calls.map(({ call }) => call.id ?? ''))
  const used = new Set<string>()
  const ids = new Map<CallSegment, string>()
  for (const { call, place } of calls) {
    const isKept = call.id !== null && isSafeId(call.id, NEUTRAL_IDS) && !used.has(call.id)
    const id = isKept && call.id !== null ? call.id : makeSafeId(call.id ?? place, NEUTRAL_IDS, taken)
    taken.add(id)
    used.add(id)
    ids.set(call, id)
  }
  return ids
}
