/**
 * Long tool results cut to a number of characters, as frameworks do before they send them. Pure.
 */
import { replaceAt } from './edit-json.ts'
import { FORMATS } from './formats.ts'
import type { History, HistoryMessage, JsonValue } from './history.ts'
import { type JsonPath, placeOf } from './json-pointer.ts'
import { parseOneMessage } from './parse-history.ts'
import { readMedia } from './read-media.ts'
import { readSegments } from './read-segments.ts'
import { replaceLoneSurrogates } from './repair/mend-surrogates.ts'
import { isObject } from './segment.ts'
import { valueAt } from './value-at.ts'
import { cutText, hasLoneSurrogate } from './well-formed.ts'

const MARKER = /\n\[(\d+) characters left out\]$/

/**
 * The texts of each result together have at most `maxChars` UTF-16 code units, markers aside; a marker at each cut says how
 * many are gone. A cut never splits a surrogate pair, and a half pair anywhere in the messages becomes U+FFFD. Images and
 * other media stay. Doing it twice changes nothing more; a message without such a result or half pair is the same value.
 */
export function truncateObservations(history: History, options: { readonly maxChars: number }): History {
  const messages = history.messages.map((message, number) => {
    const whole = makeWellFormed(history, message, number)
    let { raw } = whole
    for (const segment of readSegments(history, whole, number)) {
      if (segment.kind !== 'result') continue
      const { path } = placeOf(segment.pointer)
      for (const { at, text } of cutResult(whole.value, path, { history, ...options }))
        raw = replaceAt(raw, at, JSON.stringify(text))
    }
    return raw === whole.raw ? whole : parseOneMessage(raw, history, number)
  })
  return { ...history, messages }
}

function makeWellFormed(history: History, message: HistoryMessage, number: number): HistoryMessage {
  // Only text with a surrogate in it, escaped or not, needs the walk over its characters.
  if (!hasLoneSurrogate(message.raw) && !/\\u[dD][89a-fA-F]/.test(message.raw)) return message
  const raw = replaceLoneSurrogates(message.raw)
  return raw === message.raw ? message : parseOneMessage(raw, history, number)
}

interface Cut {
  /** Inside the message. */
  readonly at: JsonPath
  readonly text: string
}

function cutResult(
  message: JsonValue,
  path: JsonPath,
  { history, maxChars }: { readonly history: History; readonly maxChars: number },
): readonly Cut[] {
  const result = valueAt(message, path)
  if (!isObject(result)) return []
  const content = [...path, ...FORMATS[history.format].edits.resultContent(result)]
  const cuts: Cut[] = []
  let left = maxChars
  for (const { at, text } of textsIn(valueAt(message, content), content)) {
    const said = text.replace(MARKER, '')
    if (said.length > left) {
      const kept = cutText(said, left)
      const gone = Number(MARKER.exec(text)?.[1] ?? 0) + said.length - kept.length
      cuts.push({ at, text: `${kept}\n[${gone} characters left out]` })
      left = 0
    } else left -= said.length
  }
  return cuts
}

function* textsIn(value: JsonValue | undefined, at: JsonPath): Generator<Cut> {
  if (typeof value === 'string') yield { at, text: value }
  else if (Array.isArray(value)) {
    for (const [number, element] of (value as readonly JsonValue[]).entries()) yield* textsIn(element, [...at, number])
  } else if (isObject(value) && readMedia(value) === null) {
    for (const [key, member] of Object.entries(value)) if (key !== 'type') yield* textsIn(member, [...at, key])
  }
}
