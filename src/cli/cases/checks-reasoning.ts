/**
 * Checks of reasoning that is bound to its place: thinking signatures (Anthropic), reasoning items (Responses).
 */
import type { JsonValue } from '../../protocol/history.ts'
import { isObject, type JsonObject } from '../../protocol/segment.ts'
import type { CaseResult, Check } from './case-result.ts'

const isThinking = (value: JsonValue): boolean =>
  isObject(value) && (value.type === 'thinking' || value.type === 'redacted_thinking')

/** Raw text of every thinking block, in order. */
function thinkingRaws(history: NonNullable<CaseResult['rendered']>): readonly string[] {
  return history.messages.flatMap((message) =>
    (message.blocks ?? []).filter((block) => isThinking(block.value)).map((block) => block.raw),
  )
}

function signatures(result: CaseResult): readonly string[] {
  return (result.rendered?.messages ?? []).flatMap((message) =>
    (message.blocks ?? []).flatMap(({ value }) =>
      isObject(value) && isThinking(value) ? [String(value.signature ?? value.data)] : [],
    ),
  )
}

function items(result: CaseResult): readonly JsonObject[] {
  return (result.rendered?.messages ?? []).map((message) => message.value)
}

const texts = (value: JsonValue): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

/** `thinking.block_binding.prefix_mismatch_behavior` = drop_block in the request makes every signature safe (A11). */
function requestSets(result: CaseResult): boolean {
  const wanted = result.given.assert.orRequestSets
  if (!isObject(wanted)) return false
  return Object.entries(wanted).every(([path, value]) => {
    let at: JsonValue | undefined = isObject(result.output.request) ? result.output.request : undefined
    for (const step of path.split('.')) at = isObject(at) ? at[step] : undefined
    return at === value
  })
}

export const REASONING_CHECKS: Readonly<Record<string, Check>> = {
  thinkingBlocksByteIdenticalOrAbsent: (result) => {
    if (result.input === null || result.rendered === null) return 'nothing was rendered'
    const before = thinkingRaws(result.input.history)
    let from = 0
    for (const raw of thinkingRaws(result.rendered)) {
      const at = before.indexOf(raw, from)
      if (at === -1) return 'a thinking block was changed or moved'
      from = at + 1
    }
    return null
  },
  thinkingSignaturesAllowed: (result, expected) => {
    if (requestSets(result)) return null
    const other = signatures(result).filter((signature) => !texts(expected).includes(signature))
    return other.length === 0 ? null : `other signatures are sent: ${other.join(', ')}`
  },
  thinkingSignaturesForbidden: (result, expected) => {
    if (requestSets(result)) return null
    const bad = signatures(result).filter((signature) => texts(expected).includes(signature))
    return bad.length === 0 ? null : `forbidden signatures are sent: ${bad.join(', ')}`
  },
  orRequestSets: () => null,
  noOrphanReasoningItems: (result) => {
    const list = items(result)
    const orphan = list.findIndex((item, number) => item.type === 'reasoning' && !isLedTo(list[number + 1]))
    return orphan === -1 ? null : `the reasoning item ${orphan} is not followed by what it led to`
  },
  functionCallIdOnlyIfReasoningKept: (result) => {
    const before = (result.input?.history.messages ?? []).map((message) => message.value)
    const list = items(result)
    const bad = list.filter((item, number) => {
      if (typeof item.id !== 'string' || !/^(?:fc|ctc|msg)_/.test(item.id)) return false
      const was = before.findIndex((other) => other.id === item.id)
      return was > 0 && reasoningBefore(before, was) && !reasoningBefore(list, number)
    })
    return bad.length === 0 ? null : `ids without their reasoning item: ${bad.map(({ id }) => String(id)).join(', ')}`
  },
}

function isLedTo(item: JsonObject | undefined): boolean {
  if (item === undefined) return false
  return item.type === 'reasoning' || String(item.type).endsWith('_call') || item.role === 'assistant'
}

/** A reasoning item stands before item `at` with nothing but what the same response made between. */
function reasoningBefore(list: readonly JsonObject[], at: number): boolean {
  for (let number = at - 1; number >= 0; number -= 1) {
    const item = list[number]
    if (item?.type === 'reasoning') return true
    if (!isLedTo(item)) return false
  }
  return false
}
