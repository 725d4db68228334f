/**
 * A message list while it is repaired: every message knows where it stood in the input, so that changes can point there.
 * Pure.
 */
import { removeAt, replaceAt, replaceElements, sliceAt } from '../edit-json.ts'
import { FORMATS } from '../formats.ts'
import type { History, HistoryMessage } from '../history.ts'
import { type JsonPath, jsonPointer, placeOf } from '../json-pointer.ts'
import { parseOneMessage } from '../parse-history.ts'
import { readSegments } from '../read-segments.ts'

export interface WorkingMessage {
  readonly message: HistoryMessage
  /** Index in the input; null for a message that the repair made. */
  readonly origin: number | null
  /** For each edited list of the message (`content`, `tool_calls`): per element its index in the input, null if made. */
  readonly lists: Readonly<Record<string, readonly (number | null)[]>>
}

export type WorkingList = readonly WorkingMessage[]

export function startWork(history: History): WorkingList {
  return history.messages.map((message, origin) => ({ message, origin, lists: {} }))
}

export function historyOf(base: History, list: WorkingList): History {
  return { ...base, messages: list.map(({ message }) => message) }
}

/** A pointer into the working history as one into the input. */
export function inputPointer(base: History, list: WorkingList, pointer: string): string {
  const { index, path } = placeOf(pointer)
  const working = list[index]
  if (working === undefined || working.origin === null) return jsonPointer([base.listField])
  const [field, element, ...rest] = path
  const elements = typeof field === 'string' ? working.lists[field] : undefined
  if (field === undefined || element === undefined || elements === undefined)
    return jsonPointer([base.listField, working.origin, ...path])
  const origin = typeof element === 'number' ? (elements[element] ?? null) : null
  return jsonPointer([base.listField, working.origin, ...(origin === null ? [field] : [field, origin, ...rest])])
}

/** The same message with other text. */
export function withRaw(base: History, working: WorkingMessage, raw: string, index: number): WorkingMessage {
  return { ...working, message: parseOneMessage(raw, base, index) }
}

export interface InsertedBlocks {
  /** Index of the block before which they go. */
  readonly at: number
  readonly raws: readonly string[]
}

/**
 * A message without the places in `removed` (pointers into the working history) and with `inserted` blocks.
 * @returns null when nothing of the message is left but reasoning, which nothing follows then
 */
export function editMessage(
  base: History,
  working: WorkingMessage,
  edit: { readonly index: number; readonly removed: ReadonlySet<string>; readonly inserted: InsertedBlocks | null },
): WorkingMessage | null {
  const { index, removed, inserted } = edit
  const { blockField } = FORMATS[base.format]
  const kept = readSegments(base, working.message, index).filter(({ pointer }) => !removed.has(pointer))
  if (inserted === null && !kept.some(({ kind }) => kind !== 'reasoning')) return null
  const lists = { ...working.lists }
  let { raw } = working.message
  const paths = [...removed].map((pointer) => placeOf(pointer).path)
  const { blocks } = working.message
  const gone = new Set(
    paths.filter(([field, block]) => field === blockField && block !== undefined).map(([, block]) => block),
  )
  if (blocks !== null && (gone.size > 0 || inserted !== null)) {
    const origins = lists[blockField] ?? blocks.map((_, block) => block)
    const elements: { readonly raw: string; readonly origin: number | null }[] = []
    blocks.forEach((block, number) => {
      if (inserted?.at === number) elements.push(...inserted.raws.map((made) => ({ raw: made, origin: null })))
      if (!gone.has(number)) elements.push({ raw: block.raw, origin: origins[number] ?? null })
    })
    if (inserted !== null && inserted.at >= blocks.length)
      elements.push(...inserted.raws.map((made) => ({ raw: made, origin: null })))
    raw =
      elements.length === 0
        ? replaceAt(raw, [blockField], 'null')
        : replaceElements(
            raw,
            [blockField],
            elements.map((element) => element.raw),
          )
    lists[blockField] = elements.map(({ origin }) => origin)
  }
  const others = paths.filter(([field]) => field !== blockField || blocks === null)
  for (const path of [...others].sort(byLastStepDown)) {
    raw = path[0] === blockField ? replaceAt(raw, [blockField], 'null') : removeWithEmptyList(raw, path)
    const [field, element] = path
    if (typeof field === 'string' && typeof element === 'number') {
      const given = working.message.value[field]
      const origins = lists[field] ?? (Array.isArray(given) ? given.map((_, number) => number) : [])
      lists[field] = origins.filter((_, number) => number !== element)
    }
  }
  return { ...withRaw(base, working, raw, index), lists }
}

/** Highest element first, so that the others keep their index. */
function byLastStepDown(a: JsonPath, b: JsonPath): number {
  return Number(b.at(-1)) - Number(a.at(-1)) || 0
}

/** A list that loses its last element goes too: some providers refuse an empty one. */
function removeWithEmptyList(raw: string, path: JsonPath): string {
  const next = removeAt(raw, path)
  const [field, element] = path
  if (typeof field !== 'string' || typeof element !== 'number') return next
  return /^\[\s*\]$/.test(sliceAt(next, [field]) ?? '') ? removeAt(next, [field]) : next
}
