/**
 * A history against the named rules of its provider (reference/protocol.md). Pure.
 */
import { FORMATS } from './formats.ts'
import type { History, Violation } from './history.ts'
import { partitionHistory } from './partition.ts'
import { readSegments } from './read-segments.ts'
import type { RoleTurn, RuleInput } from './rules/rule.ts'
import type { Segment } from './segment.ts'

/**
 * All violations, in the order of the rules, each with a pointer into the request; empty when the history is valid.
 * @param only ids of the rules to check; default: all of the format
 */
export function validateHistory(history: History, only?: readonly string[]): readonly Violation[] {
  const segments = history.messages.map((message, number) => readSegments(history, message, number))
  const input = { history, segments, turns: combineTurns(history, segments), ...pairingOf(history) }
  const rules = FORMATS[history.format].rules.filter((rule) => only === undefined || only.includes(rule.id))
  return rules.flatMap((rule) => rule.check(input).map((finding) => ({ rule: rule.id, ...finding })))
}

/** Those that every provider of the format rejects at any time: they make a history invalid as the input of a compaction. */
export function blockingViolations(violations: readonly Violation[]): readonly Violation[] {
  return violations.filter((violation) => violation.advisory !== true)
}

function combineTurns(history: History, segments: readonly (readonly Segment[])[]): readonly RoleTurn[] {
  const turns: { readonly role: string; readonly segments: Segment[] }[] = []
  history.messages.forEach((message, number) => {
    if (message.role === 'system') return
    let turn = turns.at(-1)
    if (turn?.role !== message.role) {
      turn = { role: message.role, segments: [] }
      turns.push(turn)
    }
    turn.segments.push(...(segments[number] ?? []))
  })
  return turns
}

/** Which calls and results found each other, and which calls wait: the newest batch, with nothing but results after it. */
export function pairingOf(history: History): Pick<RuleInput, 'inFlight' | 'paired'> {
  const { drafts, openBatch } = partitionHistory(history)
  const inFlight = new Set<string>()
  const paired = new Set<string>()
  for (const draft of drafts) {
    if (draft.kind !== 'interaction') continue
    for (const { call, answered } of draft.calls) {
      if (answered) paired.add(call.pointer)
      else if (draft.batch === openBatch) inFlight.add(call.pointer)
    }
    for (const result of draft.results) paired.add(result.pointer)
  }
  return { inFlight, paired }
}
