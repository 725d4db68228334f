/**
 * One turn of the model that a logger has split over several messages, where the provider refuses that, is one message
 * again: the same parts in the same order. Pure.
 */
import { replaceElements } from '../edit-json.ts'
import { FORMATS } from '../formats.ts'
import { jsonPointer } from '../json-pointer.ts'
import type { Change } from './change.ts'
import type { Stage } from './stage.ts'
import { historyOf, inputPointer, type WorkingMessage, withRaw } from './working-list.ts'

export const mergeCalls: Stage = ({ base, list, complaints }) => {
  const { blockField, edits } = FORMATS[base.format]
  if (edits.mergesCalls !== true) return { list, changes: [] }
  const { messages } = historyOf(base, list)
  const changes: Change[] = []
  const next: WorkingMessage[] = []
  list.forEach((working, number) => {
    const pointer = jsonPointer([base.listField, number])
    const before = next.at(-1)
    const isSplit = messages[number]?.role === 'assistant' && messages[number - 1]?.role === 'assistant'
    const blocks = working.message.blocks
    const others = before?.message.blocks ?? null
    if (!isSplit || !complaints.at(pointer) || before === undefined || blocks === null || others === null) {
      next.push(working)
      return
    }
    const origins = before.lists[blockField] ?? others.map((_, block) => block)
    const raws = [...others, ...blocks].map(({ raw }) => raw)
    const raw = replaceElements(before.message.raw, [blockField], raws)
    const lists = { ...before.lists, [blockField]: [...origins, ...blocks.map(() => null)] }
    next[next.length - 1] = { ...withRaw(base, before, raw, next.length - 1), lists }
    const sentence = 'a turn of the model that was split is one message again'
    changes.push({
      rule: complaints.ruleOf(pointer),
      pointer: inputPointer(base, list, pointer),
      action: 'merged',
      sentence,
    })
  })
  return changes.length === 0 ? { list, changes } : { list: next, changes }
}
