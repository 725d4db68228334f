/**
 * A history of one provider as one of another. Pure.
 * Kept: the system prompt in the target's place, the declarations of the client's tools, the words of the user and the model, calls with their results, images and
 * files where the target takes them, all in order. What the target has no words for is named in `losses`.
 */
import { replaceAt } from '../edit-json.ts'
import { FORMATS } from '../formats.ts'
import type { History, HistoryFormat, HistoryMessage } from '../history.ts'
import { placeOf } from '../json-pointer.ts'
import { parseOneMessage } from '../parse-history.ts'
import { readSegments } from '../read-segments.ts'
import { repairHistory } from '../repair/repair-history.ts'
import { minifyJson } from '../scan-json.ts'
import { isObject } from '../segment.ts'
import { valueAt } from '../value-at.ts'
import { convertTools } from './convert-tools.ts'
import type { NeutralTurn } from './neutral.ts'
import { readNeutral } from './read-neutral.ts'

export interface Conversion {
  readonly history: History
  /** One line for each kind of thing that is not in the new history, or not as it was. */
  readonly losses: readonly string[]
}

/**
 * The same format is the same history, byte for byte. What the history breaks is repaired on the way (dead calls closed),
 * and so is what the target alone refuses; both are named in `losses`. Deterministic: equal input, equal text.
 */
export function convertHistory(history: History, target: HistoryFormat): Conversion {
  if (history.format === target) return { history, losses: [] }
  const source = repairHistory(history, { danglingCalls: 'close' })
  const { turns, losses } = readNeutral(source.history)
  const written = FORMATS[target].write(turns)
  const [listField] = FORMATS[target].listFields
  const blank = { format: target, listField }
  const messages = written.messages.map((value, index) => parseOneMessage(JSON.stringify(value), blank, index))
  const system = written.system === null ? null : { raw: JSON.stringify(written.system), value: written.system }
  const { tools, losses: toolLosses } = convertTools(history.tools?.value, { from: history.format, to: target })
  const made: History = {
    ...blank,
    messages: restoreArguments(messages, { ...blank, turns }),
    system,
    tools: tools === null ? null : { raw: JSON.stringify(tools), value: tools },
    request: {},
  }
  const done = repairHistory(made, { danglingCalls: 'close' })
  const repairs = [...source.changes, ...done.changes].map(({ sentence }) => sentence)
  return { history: done.history, losses: countLines([...repairs, ...losses, ...written.losses, ...toolLosses]) }
}

/** A call's arguments as the text that they were: JSON values lose large integers, `1.0` and the order of some keys. */
function restoreArguments(
  messages: readonly HistoryMessage[],
  about: Pick<History, 'format' | 'listField'> & { readonly turns: readonly NeutralTurn[] },
): readonly HistoryMessage[] {
  const { callArguments } = FORMATS[about.format].edits
  const texts = about.turns
    .flatMap((turn) => (turn.kind === 'assistant' ? turn.calls : []))
    .map((call) => call.arguments)
  let next = 0
  return messages.map((message, number) => {
    let { raw } = message
    for (const segment of readSegments(about, message, number)) {
      if (segment.kind !== 'call') continue
      const text = minifyJson(texts[next++] ?? '')
      const { path } = placeOf(segment.pointer)
      const value = valueAt(message.value, path)
      const steps = isObject(value) ? callArguments(value) : null
      if (steps !== null && segment.arguments !== text) raw = replaceAt(raw, [...path, ...steps], text)
    }
    return raw === message.raw ? message : parseOneMessage(raw, about, number)
  })
}

function countLines(lines: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`))
}
