/**
 * Tool-call ids that the provider refuses, and ids used again, get another name on both sides. Pure.
 */
import { replaceAt } from '../edit-json.ts'
import { FORMATS } from '../formats.ts'
import type { History } from '../history.ts'
import { type JsonPath, placeOf } from '../json-pointer.ts'
import { readSegments } from '../read-segments.ts'
import { quote } from '../rules/rule.ts'
import { isSafeId, makeSafeId } from '../safe-ids.ts'
import { isObject, type JsonObject } from '../segment.ts'
import { pairingOf } from '../validate-history.ts'
import { valueAt } from '../value-at.ts'
import type { Change } from './change.ts'
import { type PairedCall, pairCalls } from './pair-calls.ts'
import type { Stage } from './stage.ts'
import { historyOf, inputPointer, withRaw } from './working-list.ts'

export const renameIds: Stage = ({ base, list, complaints }) => {
  const history = historyOf(base, list)
  const format = FORMATS[base.format]
  const segments = history.messages.map((message, number) => readSegments(history, message, number))
  const { batches, strays } = pairCalls(history, segments, format)
  const { inFlight } = pairingOf(history)
  const calls = batches.flatMap((batch) => batch.calls)
  const { edits } = format
  const taken = new Set([...calls, ...strays].map(({ segment }) => segment.id ?? ''))
  // The agent waits for the results of calls in flight under the ids that it knows.
  const hasId = ({ message, segment }: PairedCall): boolean => {
    const { path } = placeOf(segment.pointer)
    const { value } = history.messages[message] ?? {}
    const call = value === undefined ? undefined : valueAt(value, path)
    // What the provider runs itself has no id that a result has to name.
    return isObject(call) && valueAt(call, edits.callId(call)) !== undefined
  }
  const waiting = calls.flatMap(({ segment }) => (inFlight.has(segment.pointer) ? [segment.id] : []))
  const used = new Set<string | null>(waiting)
  const renames: { readonly call: PairedCall; readonly from: string; readonly to: string }[] = []
  for (const batch of batches) {
    const usedHere = new Set<string>()
    for (const call of batch.calls) {
      const { id, pointer } = call.segment
      if (id === null || inFlight.has(pointer) || !hasId(call)) continue
      const isAgain = edits.ids.uniqueIn === 'request' ? used.has(id) : usedHere.has(id) && complaints.at(pointer)
      const to = isAgain || !isSafeId(id, edits.ids) ? makeSafeId(id, edits.ids, taken) : id
      for (const ids of [taken, used, usedHere]) ids.add(to)
      if (to !== id) renames.push({ call, from: id, to })
    }
  }
  return {
    list: renamed({ base, list, history, renames }),
    changes: renames.map(({ call, from, to }): Change => {
      const { pointer } = call.segment
      const sentence = `tool-call id ${quote(from)} became ${quote(to)}, on both sides`
      return {
        rule: complaints.ruleOf(pointer),
        pointer: inputPointer(base, list, pointer),
        action: 'renamed',
        sentence,
      }
    }),
  }
}

function renamed({
  base,
  list,
  history,
  renames,
}: Pick<Parameters<Stage>[0], 'base' | 'list'> & {
  readonly history: History
  readonly renames: readonly { readonly call: PairedCall; readonly to: string }[]
}): ReturnType<Stage>['list'] {
  const { edits } = FORMATS[base.format]
  const raws = new Map<number, string>()
  const rename = (message: number, pointer: string, to: string, idPath: (value: JsonObject) => JsonPath): void => {
    const { path } = placeOf(pointer)
    const value = valueAt(history.messages[message]?.value ?? {}, path)
    const raw = raws.get(message) ?? list[message]?.message.raw
    if (raw === undefined || !isObject(value)) return
    raws.set(message, replaceAt(raw, [...path, ...idPath(value)], JSON.stringify(to)))
  }
  for (const { call, to } of renames) {
    rename(call.message, call.segment.pointer, to, edits.callId)
    if (call.result !== null) rename(call.result.message, call.result.segment.pointer, to, edits.resultId)
  }
  return list.map((working, number) => {
    const raw = raws.get(number)
    return raw === undefined ? working : withRaw(base, working, raw, number)
  })
}
