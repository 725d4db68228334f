/**
 * Puts the results of one batch of calls directly behind it, before what the user said meanwhile. Pure.
 */

import { replaceElements } from '../edit-json.ts'
import { FORMATS } from '../formats.ts'
import type { History, HistoryMessage } from '../history.ts'
import { placeOf } from '../json-pointer.ts'
import { parseOneMessage } from '../parse-history.ts'
import { quote } from '../rules/rule.ts'
import type { Segment } from '../segment.ts'
import { isObject } from '../segment.ts'
import { valueAt } from '../value-at.ts'
import type { ListEdit } from './list-edit.ts'
import type { CallBatch, PairedCall, PlacedResult } from './pair-calls.ts'
import type { WorkingList, WorkingMessage } from './working-list.ts'

/** What a call that was never answered is told to have been answered with: the only content a repair may add. */
export const CLOSING_TEXT = 'Error: this call was never answered.'

export interface Placement {
  readonly batch: CallBatch
  /** Unanswered calls that get a closing result. */
  readonly closed: readonly PairedCall[]
  readonly history: History
  readonly list: WorkingList
  readonly segments: readonly (readonly Segment[])[]
}

/** Where the results of the batch stand now, and where further ones go. */
interface Layout {
  /** Index of the message before which a new message goes. */
  readonly end: number
  /** Message that takes further blocks, and the block before which; null: a new message. */
  readonly target: { readonly message: number; readonly at: number } | null
  readonly displaced: readonly PlacedResult[]
}

export function placeResults(edit: ListEdit, placement: Placement): void {
  const { batch, closed, history } = placement
  const { results } = FORMATS[history.format].edits
  if (results === 'anywhere' && closed.length === 0) return
  const { end, target, displaced } = findLayout(edit, placement)
  const moved = results === 'anywhere' ? [] : displaced
  if (moved.length === 0 && closed.length === 0) return
  for (const { segment } of moved)
    edit.report(segment.pointer, {
      action: 'moved',
      sentence: `the result of tool call ${quote(segment.id ?? segment.name)} was moved directly behind its call`,
    })
  for (const call of closed)
    edit.report(call.segment.pointer, {
      action: 'closed',
      sentence: `tool call ${quote(call.segment.id ?? call.segment.name)} was never answered and got a result that says so`,
    })
  const closings = closed.map((call) => closingOf(history, call, batch.last))
  const blockWise = [...moved.map(({ message }) => history.messages[message]), ...closings].every(
    (message) => message !== undefined && message.blocks !== null,
  )
  if (!blockWise) {
    for (const { message, segment } of moved) {
      const working = placement.list[message]
      if (working === undefined) continue
      edit.take(segment.pointer)
      edit.insertMessage(end, working)
    }
    for (const message of closings) edit.insertMessage(end, { message, origin: null, lists: {} })
    return
  }
  const closingBlocks = closings.flatMap(({ blocks }) => (blocks ?? []).map(({ raw }) => raw))
  if (target !== null) {
    for (const { segment } of moved) edit.take(segment.pointer)
    edit.insertBlocks(target.message, target.at, [...moved.map((one) => blockOf(history, one)), ...closingBlocks])
    return
  }
  const message = gather(edit, { placement, moved, closings, closingBlocks, index: end })
  for (const { segment } of moved) edit.take(segment.pointer)
  edit.insertMessage(end, message)
}

function findLayout(edit: ListEdit, { batch, history, segments }: Placement): Layout {
  const { results } = FORMATS[history.format].edits
  const own = new Map(
    batch.calls.flatMap(({ result }) =>
      // What the assistant's own message holds (tools of the provider) stays there.
      result === null || history.messages[result.message]?.role === 'assistant'
        ? []
        : [[result.segment.pointer, result] as const],
    ),
  )
  const rowOf = (message: number): readonly Segment[] =>
    (segments[message] ?? []).filter(({ pointer }) => !edit.isRemoved(pointer))
  const inPlace = new Set<string>()
  const holders: number[] = []
  let end = batch.last + 1
  for (; end < history.messages.length; end++) {
    const row = rowOf(end)
    if (row.length === 0 && edit.isDropped(end)) continue
    if (history.messages[end]?.role === 'assistant' || row.length === 0) break
    if (!row.every(({ pointer }) => own.has(pointer))) break
    holders.push(end)
  }
  const mixed = history.messages[end]?.role === 'assistant' ? [] : rowOf(end)
  const leading = mixed.findIndex(({ pointer }) => !own.has(pointer))
  const isMixed = mixed.some(({ pointer }) => own.has(pointer))
  const [first] = holders
  if (results === 'one-message' && first !== undefined) {
    for (const { pointer } of rowOf(first)) inPlace.add(pointer)
    return { end, target: behind(history, first), displaced: displacedOf(own, inPlace) }
  }
  for (const holder of holders) for (const { pointer } of rowOf(holder)) inPlace.add(pointer)
  if (isMixed) {
    for (const { pointer } of mixed.slice(0, leading)) inPlace.add(pointer)
    const at = mixed[leading]?.block ?? 0
    return { end, target: { message: end, at }, displaced: displacedOf(own, inPlace) }
  }
  const last = holders.at(-1)
  return { end, target: last === undefined ? null : behind(history, last), displaced: displacedOf(own, inPlace) }
}

function behind(history: History, message: number): Layout['target'] {
  return { message, at: history.messages[message]?.blocks?.length ?? 0 }
}

function displacedOf(own: ReadonlyMap<string, PlacedResult>, inPlace: ReadonlySet<string>): readonly PlacedResult[] {
  return [...own.values()]
    .filter(({ segment }) => !inPlace.has(segment.pointer))
    .sort((a, b) => a.message - b.message || (a.segment.block ?? 0) - (b.segment.block ?? 0))
}

/** One message for results that have none to go to: their own if all of one is theirs, else a copy of its frame. */
function gather(
  edit: ListEdit,
  given: {
    readonly placement: Placement
    readonly moved: readonly PlacedResult[]
    readonly closings: readonly HistoryMessage[]
    readonly closingBlocks: readonly string[]
    readonly index: number
  },
): WorkingMessage {
  const { placement, moved, closings, closingBlocks, index } = given
  const { history, list, segments } = placement
  const { blockField } = FORMATS[history.format]
  const [first] = moved
  const source = first === undefined ? undefined : list[first.message]
  if (first === undefined || source === undefined) {
    const raw = replaceElements(closings[0]?.raw ?? '', [blockField], closingBlocks)
    return { message: parseOneMessage(raw, history, index), origin: null, lists: {} }
  }
  const pointers = new Set(moved.map(({ segment }) => segment.pointer))
  const rest = (segments[first.message] ?? []).filter(
    ({ pointer }) => !edit.isRemoved(pointer) && !pointers.has(pointer),
  )
  const isWhole = rest.length === 0 && moved.every(({ message }) => message === first.message)
  const untouched = (segments[first.message] ?? []).every(({ pointer }) => pointers.has(pointer))
  if (isWhole && untouched && closingBlocks.length === 0) return source
  const blocks = moved.map((one) => blockOf(history, one))
  const origins = source.lists[blockField]
  const raw = replaceElements(source.message.raw, [blockField], [...blocks, ...closingBlocks])
  const lists = {
    [blockField]: [
      ...moved.map(({ message, segment }) =>
        message === first.message && segment.block !== null ? (origins?.[segment.block] ?? segment.block) : null,
      ),
      ...closingBlocks.map(() => null),
    ],
  }
  return { message: parseOneMessage(raw, history, index), origin: source.origin, lists: { ...source.lists, ...lists } }
}

function blockOf(history: History, { message, segment }: PlacedResult): string {
  return history.messages[message]?.blocks?.[segment.block ?? 0]?.raw ?? ''
}

function closingOf(history: History, { segment, message }: PairedCall, index: number): HistoryMessage {
  const value = valueAt(history.messages[message]?.value ?? {}, placeOf(segment.pointer).path)
  const made = FORMATS[history.format].edits.closeCall(segment, isObject(value) ? value : {}, CLOSING_TEXT)
  return parseOneMessage(JSON.stringify(made), history, index)
}
