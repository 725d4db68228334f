/**
 * Takes out what a provider refuses and what says nothing: empty texts and messages, unsigned thinking, reasoning that led
 * nowhere. What is done for which rule is in the format's edits. Pure.
 */
import { removeAt } from '../edit-json.ts'
import { FORMATS } from '../formats.ts'
import { jsonPointer, placeOf } from '../json-pointer.ts'
import { readSegments } from '../read-segments.ts'
import type { Segment } from '../segment.ts'
import type { Change } from './change.ts'
import { createListEdit } from './list-edit.ts'
import type { Stage } from './stage.ts'
import { historyOf, inputPointer, withRaw } from './working-list.ts'

export const fixByRule: Stage = ({ base, list, complaints }) => {
  const history = historyOf(base, list)
  const { blockField, edits } = FORMATS[base.format]
  const segments = history.messages.map((message, number) => readSegments(history, message, number))
  const edit = createListEdit({ base, list, segments, complaints })
  const unbound: { readonly pointer: string; readonly change: Change }[] = []
  for (const { rule, pointer } of complaints.violations) {
    const fix = edits.fixes[rule]
    if (fix === undefined) continue
    const { index, path } = placeOf(pointer)
    const row = segments[index] ?? []
    const [field, block] = path
    // Inside a block the whole block goes, and a message goes with its whole content.
    const isWhole = field === undefined || (field === blockField && block === undefined)
    const place = isWhole
      ? jsonPointer([base.listField, index])
      : jsonPointer([base.listField, index, ...path.slice(0, 2)])
    const inside = row.filter(
      (segment) => isWhole || segment.pointer === place || segment.pointer.startsWith(`${place}/`),
    )
    if (fix === 'unbind' && inside.some(({ kind }) => kind !== 'reasoning')) {
      const sentence = 'the item lost its own id, with which it would need the reasoning that is gone'
      unbound.push({
        pointer,
        change: { rule, pointer: inputPointer(base, list, pointer), action: 'unbound', sentence },
      })
      continue
    }
    if (!inside.every(saysNothing)) continue
    const sentence = describe(inside)
    const [first, ...others] = isWhole ? [...inside.map((segment) => segment.pointer), place] : [place]
    if (first === undefined) continue
    edit.remove(first, { action: 'dropped', sentence })
    for (const other of others) edit.take(other)
  }
  const dropped = edit.done()
  // Ids are taken away once nothing else is to be done, since dropping moves indices.
  if (dropped.changes.length > 0 || unbound.length === 0) return dropped
  const without = list.map((working, number) => {
    const own = unbound.filter(({ pointer }) => placeOf(pointer).index === number)
    return own.reduce(
      (message, { pointer }) =>
        withRaw(base, message, removeAt(message.message.raw, [...placeOf(pointer).path, 'id']), number),
      working,
    )
  })
  return { list: without, changes: unbound.map(({ change }) => change) }
}

/** Never a call, a result, a medium or a word. */
function saysNothing(segment: Segment): boolean {
  return segment.kind === 'reasoning' || (segment.kind === 'text' && segment.text.trim() === '')
}

function describe(inside: readonly Segment[]): string {
  if (inside.some(({ kind }) => kind === 'reasoning')) return 'reasoning that the provider would refuse was dropped'
  return inside.length === 0 ? 'what is empty was dropped' : 'a text without anything but white space was dropped'
}
