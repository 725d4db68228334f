/**
 * The smallest safe repair of a history that its provider would refuse. Pure.
 * It takes away, moves and renames; the one thing it may add is the fixed text of a closing result (DESIGN section 5).
 * The words of the user stay verbatim and in order, untouched messages keep their bytes, calls in flight stay as they are.
 */
import type { History, Violation } from '../history.ts'
import { isPrefixBound, stripBoundThinking, type ThinkingBinding } from '../thinking-binding.ts'
import { validateHistory } from '../validate-history.ts'
import type { Change } from './change.ts'
import { readComplaints } from './complaints.ts'
import { cutHead } from './cut-head.ts'
import { fixByRule } from './fix-by-rule.ts'
import { mendPairs } from './mend-pairs.ts'
import { mendSurrogates } from './mend-surrogates.ts'
import { mergeCalls } from './merge-calls.ts'
import { renameIds } from './rename-ids.ts'
import { historyOf, startWork, type WorkingList } from './working-list.ts'

export interface RepairOptions {
  /**
   * A call that was never answered, and never will be, is dropped (default), or closed by a result that says so. One that
   * carries what other calls of its message need (Gemini's signature) is closed in either case.
   */
  readonly danglingCalls?: 'drop' | 'close'
  /** What an edit does to the signed thinking behind it (A10); default: auto. */
  readonly thinkingBinding?: ThinkingBinding
}

export interface Repair {
  /** The history given, itself, when nothing was to be done. */
  readonly history: History
  readonly changes: readonly Change[]
  /** What the repaired history still breaks: advice, or what cannot be repaired without making something up. */
  readonly remaining: readonly Violation[]
  /** Per message of the repaired history, the index of the message that it was; null for one that the repair made. */
  readonly origins: readonly (number | null)[]
}

const STAGES = [mendSurrogates, fixByRule, mergeCalls, mendPairs, cutHead, renameIds]

/** One repair may uncover the next. Real damage needs two rounds; the bound keeps a bug from looping. */
const MAX_ROUNDS = 12

/** Idempotent: repairing the repaired history changes nothing. */
export function repairHistory(history: History, options: RepairOptions = {}): Repair {
  const { danglingCalls = 'drop', thinkingBinding = 'auto' } = options
  const changes: Change[] = []
  let list: WorkingList = startWork(history)
  let violations = validateHistory(history)
  let complaints = readComplaints(violations)
  for (let round = 0; round < MAX_ROUNDS && violations.length > 0; round++) {
    const before = changes.length
    for (const stage of STAGES) {
      const done = stage({ base: history, list, complaints, danglingCalls })
      if (done.changes.length === 0) continue
      changes.push(...done.changes)
      list = done.list
      violations = validateHistory(historyOf(history, list))
      complaints = readComplaints(violations)
    }
    if (changes.length === before) break
  }
  if (changes.length === 0) return { history, changes, remaining: violations, origins: originsOf(list) }
  if (!isPrefixBound(history, thinkingBinding))
    return { history: historyOf(history, list), changes, remaining: violations, origins: originsOf(list) }
  const { messages, from, stripped } = stripBoundThinking(history, historyOf(history, list).messages)
  const bound = {
    rule: 'A10',
    action: 'dropped',
    sentence: 'thinking behind a repaired place is no longer valid',
  } as const
  const origins = originsOf(list)
  const repaired: History = { ...history, messages }
  return {
    history: repaired,
    changes: [...changes, ...stripped.map((pointer): Change => ({ ...bound, pointer }))],
    remaining: stripped.length === 0 ? violations : validateHistory(repaired),
    origins: from.map((index) => origins[index] ?? null),
  }
}

function originsOf(list: WorkingList): readonly (number | null)[] {
  return list.map(({ origin }) => origin)
}
