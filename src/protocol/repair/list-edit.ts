/**
 * Edits of a message list, collected first and done in one sweep, so that all of them speak of the same indices. Pure.
 */

import type { History } from '../history.ts'
import { placeOf } from '../json-pointer.ts'
import type { Segment } from '../segment.ts'
import type { Change, ChangeAction } from './change.ts'
import type { Complaints } from './complaints.ts'
import type { StageResult } from './stage.ts'
import { editMessage, inputPointer, type WorkingList, type WorkingMessage } from './working-list.ts'

export interface ListEdit {
  /** Takes the place out and reports it, once. */
  remove(pointer: string, report: { readonly action: ChangeAction; readonly sentence: string }): void
  isRemoved(pointer: string): boolean
  /** Nothing of the message stays. */
  isDropped(message: number): boolean
  /** Takes the place out because it is put in elsewhere. */
  take(pointer: string): void
  report(pointer: string, change: { readonly action: ChangeAction; readonly sentence: string }): void
  insertMessage(before: number, message: WorkingMessage): void
  insertBlocks(message: number, at: number, raws: readonly string[]): void
  done(): StageResult
}

export function createListEdit(given: {
  readonly base: History
  readonly list: WorkingList
  readonly segments: readonly (readonly Segment[])[]
  readonly complaints: Complaints
}): ListEdit {
  const { base, list, segments, complaints } = given
  const removed = new Map<number, Set<string>>()
  const messages = new Map<number, WorkingMessage[]>()
  const blocks = new Map<number, { readonly at: number; readonly raws: string[] }>()
  const changes: Change[] = []
  const isRemoved = (pointer: string): boolean => removed.get(placeOf(pointer).index)?.has(pointer) ?? false
  const take = (pointer: string): void => {
    const { index } = placeOf(pointer)
    removed.set(index, (removed.get(index) ?? new Set()).add(pointer))
  }
  const report: ListEdit['report'] = (pointer, { action, sentence }) => {
    changes.push({ rule: complaints.ruleOf(pointer), pointer: inputPointer(base, list, pointer), action, sentence })
  }
  return {
    take,
    report,
    isRemoved,
    isDropped(message) {
      if (blocks.has(message)) return false
      const row = segments[message] ?? []
      const own = removed.get(message)
      return own !== undefined && !row.some(({ kind, pointer }) => kind !== 'reasoning' && !own.has(pointer))
    },
    remove(pointer, change) {
      if (isRemoved(pointer)) return
      take(pointer)
      report(pointer, change)
    },
    insertMessage(before, message) {
      messages.set(before, [...(messages.get(before) ?? []), message])
    },
    insertBlocks(message, at, raws) {
      const known = blocks.get(message)
      if (known === undefined) blocks.set(message, { at, raws: [...raws] })
      else known.raws.push(...raws)
    },
    done() {
      if (changes.length === 0) return { list, changes }
      const next = list.flatMap((working, index): readonly WorkingMessage[] => {
        const inserted = blocks.get(index) ?? null
        const own = removed.get(index)
        const made = messages.get(index) ?? []
        if (own === undefined && inserted === null) return [...made, working]
        const edited = editMessage(base, working, { index, removed: own ?? new Set(), inserted })
        return edited === null ? made : [...made, edited]
      })
      return { list: [...next, ...(messages.get(list.length) ?? [])], changes }
    },
  }
}
