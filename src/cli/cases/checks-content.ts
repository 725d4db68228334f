/**
 * Checks of what was understood and decided: interactions, pairs, counts, outcomes.
 */
import type { JsonValue } from '../../protocol/history.ts'
import { isObject } from '../../protocol/segment.ts'
import type { Interaction } from '../../trajectory/trajectory.ts'
import type { CaseResult, Check } from './case-result.ts'

const interactions = (result: CaseResult): readonly Interaction[] => result.trajectory?.interactions ?? []

const equal = (found: JsonValue | undefined, expected: JsonValue): string | null =>
  JSON.stringify(found) === JSON.stringify(expected) ? null : `found ${JSON.stringify(found ?? null)}`

function counts(interaction: Interaction | undefined): { readonly [key: string]: number } {
  return {
    toolCalls: interaction?.toolCalls.length ?? 0,
    observations: interaction?.observations.length ?? 0,
  }
}

/** [name, result] or [name, arguments, result] of every answered call. */
function pairs(result: CaseResult, width: number): readonly (readonly string[])[] {
  return interactions(result).flatMap(({ toolCalls, observations }) =>
    toolCalls.flatMap((call, number) => {
      const answer = observations.find((one) => one.callId !== null && one.callId === call.id) ?? observations[number]
      if (answer === undefined) return []
      return [width === 2 ? [call.name, answer.content] : [call.name, call.arguments, answer.content]]
    }),
  )
}

const between = (found: JsonValue | undefined, range: JsonValue): string | null => {
  const [low, high] = Array.isArray(range) ? range : []
  const holds = typeof found === 'number' && typeof low === 'number' && typeof high === 'number'
  return holds && found >= low && found <= high ? null : `found ${JSON.stringify(found ?? null)}`
}

const output =
  (key: string): Check =>
  (result, expected) =>
    equal(result.output[key], expected)

export const CONTENT_CHECKS: Readonly<Record<string, Check>> = {
  interactions: (result, expected) => equal(interactions(result).length, expected),
  interactionsInInput: (result, expected) => equal(interactions(result).length, expected),
  pairs: (result, expected) => {
    const width = Array.isArray(expected) && Array.isArray(expected[0]) ? expected[0].length : 3
    return equal(
      pairs(result, width).map((pair) => [...pair]),
      expected,
    )
  },
  duplicateResults: output('duplicate_results'),
  totalOutputTokens: output('output_tokens'),
  apiCalls: output('api_calls'),
  triggers: output('triggers'),
  contextTokens: output('context_tokens'),
  contextTokensBetween: (result, expected) => between(result.output.context_tokens, expected),
  deterministic: output('deterministic'),
  idempotent: output('idempotent'),
  throws: (result, expected) => equal(result.thrown !== null, expected),
  recoveredContents: (result, expected) => {
    const found = Array.isArray(result.output.contents) ? result.output.contents.map(String) : []
    let from = 0
    for (const wanted of Array.isArray(expected) ? expected : []) {
      const at = found.indexOf(String(wanted), from)
      if (at === -1) return `${JSON.stringify(wanted)} was not recovered in its place`
      from = at + 1
    }
    return null
  },
  skippedLineNumbersAtLeast: (result, expected) => {
    const damaged = Array.isArray(result.output.damage) ? result.output.damage : []
    const lines = damaged.map((entry) => (isObject(entry) ? entry.line : null))
    const silent = (Array.isArray(expected) ? expected : []).filter((line) => !lines.includes(line))
    return silent.length === 0 ? null : `lines not reported: ${silent.map(String).join(', ')}`
  },
  historyUnchanged: (result) => (result.output.unchanged === true ? null : 'the history was changed'),
  refusedReason: (result, expected) => equal(result.output.reason, expected),
  historyUnchangedOnBadSummary: (result) => everyReply(result, (reply) => reply.unchanged === true),
  reportsReason: (result) => everyReply(result, (reply) => typeof reply.reason === 'string' && reply.reason !== ''),
  imageBlockTokensBetween: (result, expected) => {
    const images = Array.isArray(result.output.media) ? result.output.media : []
    if (images.length === 0) return 'no image was found'
    return images.map((image) => between(isObject(image) ? image.tokens : null, expected)).find(Boolean) ?? null
  },
  textBlockTokensAtLeast: (result, expected) => {
    const found = result.output.largest_text_tokens
    return typeof found === 'number' && typeof expected === 'number' && found >= expected
      ? null
      : `found ${String(found)}`
  },
  maxObservationCharsPlusMarker: (result) => {
    const limit = result.given.params.maxObservationChars
    const observed = Array.isArray(result.output.observations) ? result.output.observations : []
    if (typeof limit !== 'number') return 'the case names no limit'
    const long = observed.filter(
      (entry) => isObject(entry) && Number(entry.chars) > limit && Number(entry.kept_chars) > limit,
    )
    return observed.length > 0 && long.length === 0
      ? null
      : `${long.length} observations keep more than ${limit} characters`
  },
}

/** `interaction0` and so on: the counts of that interaction. */
export function interactionCheck(key: string): Check | null {
  const match = /^interaction(\d+)$/.exec(key)
  if (match === null) return null
  return (result, expected) => {
    const found = counts(interactions(result)[Number(match[1])])
    const wanted = isObject(expected) ? Object.entries(expected) : []
    const wrong = wanted.filter(([name, value]) => found[name] !== value)
    return wrong.length === 0 ? null : wrong.map(([name]) => `${name}: ${found[name] ?? 'unknown'}`).join(', ')
  }
}

function everyReply(
  result: CaseResult,
  holds: (reply: { readonly [key: string]: JsonValue }) => boolean,
): string | null {
  const replies = Array.isArray(result.output.replies) ? result.output.replies : []
  if (replies.length === 0) return 'no reply was tried'
  const bad = replies.flatMap((reply, number) => (isObject(reply) && holds(reply) ? [] : [String(number)]))
  return bad.length === 0 ? null : `not so for replies ${bad.join(', ')}`
}
