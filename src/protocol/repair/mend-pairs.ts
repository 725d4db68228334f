/**
 * Every call gets its one result directly after it, or goes; every result that answers nothing goes. Pure.
 * Only batches and results that break a rule are touched, and calls in flight never are.
 */

import { FORMATS } from '../formats.ts'
import type { History } from '../history.ts'
import { placeOf } from '../json-pointer.ts'
import { readSegments } from '../read-segments.ts'
import { quote } from '../rules/rule.ts'
import { isObject, type JsonObject, type Segment } from '../segment.ts'
import { pairingOf } from '../validate-history.ts'
import { valueAt } from '../value-at.ts'
import type { Complaints } from './complaints.ts'
import { createListEdit, type ListEdit } from './list-edit.ts'
import { type CallBatch, type PairedCall, pairCalls } from './pair-calls.ts'
import { placeResults } from './place-results.ts'
import type { Stage } from './stage.ts'
import { historyOf } from './working-list.ts'

export const mendPairs: Stage = ({ base, list, complaints, danglingCalls }) => {
  const history = historyOf(base, list)
  const segments = history.messages.map((message, number) => readSegments(history, message, number))
  const format = FORMATS[base.format]
  const pairs = pairCalls(history, segments, format)
  const { inFlight } = pairingOf(history)
  const edit = createListEdit({ base, list, segments, complaints })
  for (const { message, segment, why } of pairs.strays) {
    if (!complaints.about(message)) continue
    const sentence =
      why === 'orphan'
        ? 'a result that answers no call was dropped'
        : `a second result of tool call ${quote(segment.id ?? segment.name)} was dropped: the first one counts`
    edit.remove(segment.pointer, { action: 'dropped', sentence })
  }
  for (const batch of pairs.batches) {
    if (!isComplainedAbout(batch, complaints)) continue
    const dead = batch.calls.filter(
      ({ result, segment: { pointer } }) => result === null && complaints.at(pointer) && !inFlight.has(pointer),
    )
    const closed = dead.filter((call) => {
      const value = valueOfCall(history, call)
      const others = batch.calls.some((other) => other.message === call.message && other.result !== null)
      return danglingCalls === 'close' || (others && format.edits.holdsTheOthers?.(value) === true)
    })
    for (const call of dead) {
      if (closed.includes(call)) continue
      const sentence = `tool call ${nameOf(call)} was never answered and was dropped`
      edit.remove(call.segment.pointer, { action: 'dropped', sentence })
    }
    placeResults(edit, { batch, closed, history, list, segments })
  }
  dropReasoningBehind(edit, { history, segments })
  return edit.done()
}

function isComplainedAbout({ first, last, calls }: CallBatch, complaints: Complaints): boolean {
  for (let message = first; message <= last; message++) if (complaints.about(message)) return true
  return calls.some(({ result }) => result !== null && complaints.about(result.message))
}

export function nameOf({ segment }: PairedCall): string {
  return quote(segment.id ?? segment.name)
}

function valueOfCall(history: History, { segment, message }: PairedCall): JsonObject {
  const value = valueAt(history.messages[message]?.value ?? {}, placeOf(segment.pointer).path)
  return isObject(value) ? value : {}
}

/**
 * Reasoning in a message of its own that led to a call which is gone, and to nothing else: a provider that binds the two
 * refuses it alone (R3).
 */
function dropReasoningBehind(
  edit: ListEdit,
  { history, segments }: { readonly history: History; readonly segments: readonly (readonly Segment[])[] },
): void {
  const { messages } = history
  for (let number = 0; number < messages.length; number++) {
    if (!edit.isDropped(number) || messages[number]?.role !== 'assistant') continue
    let next = number + 1
    while (next < messages.length && edit.isDropped(next)) next++
    if (messages[next]?.role === 'assistant') continue
    for (let before = number - 1; before >= 0 && messages[before]?.role === 'assistant'; before--) {
      if (edit.isDropped(before)) continue
      const row = segments[before] ?? []
      if (row.length === 0 || row.some(({ kind }) => kind !== 'reasoning')) break
      for (const { pointer } of row)
        edit.remove(pointer, { action: 'dropped', sentence: 'reasoning that led to a dropped call alone went with it' })
    }
  }
}
