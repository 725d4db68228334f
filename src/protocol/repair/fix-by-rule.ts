/**
 * Takes out what a provider refuses and what says nothing: empty texts and messages, unsigned thinking, reasoning that led
 * nowhere. What is done for which rule is in the format's edits. Pure.
 */
import { removeAt, renameKey, replaceAt, sliceAt } from '../edit-json.ts'
import { FORMATS } from '../formats.ts'
import type { History } from '../history.ts'
import { type JsonPath, jsonPointer, placeOf } from '../json-pointer.ts'
import { readSegments } from '../read-segments.ts'
import { isObject, type Segment } from '../segment.ts'
import { valueAt } from '../value-at.ts'
import type { Change, ChangeAction } from './change.ts'
import { createListEdit } from './list-edit.ts'
import type { Stage } from './stage.ts'
import { historyOf, inputPointer, withRaw } from './working-list.ts'

export const fixByRule: Stage = ({ base, list, complaints }) => {
  const history = historyOf(base, list)
  const { blockField, edits } = FORMATS[base.format]
  const segments = history.messages.map((message, number) => readSegments(history, message, number))
  const edit = createListEdit({ base, list, segments, complaints })
  const rewrites: { readonly index: number; readonly raw: (raw: string) => string; readonly change: Change }[] = []
  for (const { rule, pointer } of complaints.violations) {
    const fix = edits.fixes[rule]
    if (fix === undefined) continue
    const { index, path } = placeOf(pointer)
    const rewrite = (action: ChangeAction, sentence: string, raw: (text: string) => string): void => {
      rewrites.push({ index, raw, change: { rule, pointer: inputPointer(base, list, pointer), action, sentence } })
    }
    if (fix === 'wrap') {
      const steps = wrappable(history, pointer)
      if (steps !== null)
        rewrite('wrapped', 'the output of a result was given the form that the format asks for', (raw) =>
          renameKey(replaceAt(raw, steps.at, steps.text), steps.at, steps.key),
        )
      continue
    }
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
      rewrite('unbound', sentence, (raw) => removeAt(raw, [...path, 'id']))
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
  // In their place once nothing else is to be done, since dropping moves indices.
  if (dropped.changes.length > 0 || rewrites.length === 0) return dropped
  const rewritten = list.map((working, number) => {
    const own = rewrites.filter(({ index }) => index === number)
    const raw = own.reduce((text, one) => one.raw(text), working.message.raw)
    return own.length === 0 ? working : withRaw(base, working, raw, number)
  })
  return { list: rewritten, changes: rewrites.map(({ change }) => change) }
}

/** Where what a result says stands, with its new text; null where there is nothing to wrap. */
function wrappable(
  history: History,
  pointer: string,
): { readonly at: JsonPath; readonly key: string; readonly text: string } | null {
  const { edits } = FORMATS[history.format]
  const { index, path } = placeOf(pointer)
  const message = history.messages[index]
  const result = message === undefined ? undefined : valueAt(message.value, path)
  if (message === undefined || !isObject(result)) return null
  const at = [...path, ...edits.resultContent(result)]
  const raw = sliceAt(message.raw, at)
  const wrapped = raw === null ? null : (edits.wrapContent?.(String(at.at(-1)), raw) ?? null)
  return wrapped === null ? null : { at, ...wrapped }
}

/** Never a call, a result, a medium or a word. */
function saysNothing(segment: Segment): boolean {
  return segment.kind === 'reasoning' || (segment.kind === 'text' && segment.text.trim() === '')
}

function describe(inside: readonly Segment[]): string {
  if (inside.some(({ kind }) => kind === 'reasoning')) return 'reasoning that the provider would refuse was dropped'
  return inside.length === 0 ? 'what is empty was dropped' : 'a text without anything but white space was dropped'
}
