/**
 * R1-R5 of OpenAI Responses, and two of the invariants of reference/protocol.md section 6 that have no number there: R6
 * (unique call ids) and R7 (no empty text). Pure.
 */
import { jsonPointer } from '../json-pointer.ts'
import { advisoryIf, type Finding, quote, type Rule, type RuleInput } from '../rules/rule.ts'
import { itemType } from './item-kind.ts'
import { REASONING_RULES } from './reasoning-rules.ts'
import { mayHoldEarlier } from './stored-state.ts'

const ASK = '{"type":"message","role":"user","content":"go"}'
const call = (id: string): string => `{"type":"function_call","call_id":"${id}","name":"ls","arguments":"{}"}`
const output = (id: string): string => `{"type":"function_call_output","call_id":"${id}","output":"ok"}`
const COMPACTION = '{"type":"compaction","id":"cmp_1","encrypted_content":"b3BhcXVl"}'
const TRIGGER = '{"type":"compaction_trigger"}'
const list = (...items: readonly string[]): string => `[${items.join(',')}]`
const VALID = list(ASK, call('a'), output('a'))

export const RESPONSES_RULES: readonly Rule[] = [
  {
    id: 'R1',
    format: 'openai-responses',
    sentence: 'Every call of a tool that the client runs has an output item with its call_id.',
    check: checkAnswered,
    examples: { violating: list(ASK, call('a'), ASK), valid: VALID },
  },
  {
    id: 'R2',
    format: 'openai-responses',
    sentence: 'Every output item answers a call before it, and a call has one output.',
    check: checkOutputs,
    examples: { violating: list(ASK, output('a')), valid: VALID },
  },
  ...REASONING_RULES,
  {
    id: 'R5',
    format: 'openai-responses',
    sentence: 'A compaction item is kept as it came, and a compaction_trigger is the last item.',
    check: checkCompaction,
    examples: { violating: list(ASK, TRIGGER, ASK), valid: list(ASK, COMPACTION, ASK, TRIGGER) },
  },
  {
    id: 'R6',
    format: 'openai-responses',
    sentence: 'A call_id is used by one call of the request (some hosts).',
    check: checkUniqueIds,
    examples: { violating: list(ASK, call('a'), output('a'), call('a'), output('a')), valid: VALID },
  },
  {
    id: 'R7',
    format: 'openai-responses',
    sentence: 'No message and no text of it is empty (some hosts).',
    check: checkEmpty,
    examples: { violating: list('{"type":"message","role":"user","content":""}'), valid: list(ASK) },
  },
]

function checkAnswered({ segments, paired, inFlight }: RuleInput): readonly Finding[] {
  return segments.flat().flatMap((segment) => {
    if (segment.kind !== 'call' || paired.has(segment.pointer)) return []
    const waits = inFlight.has(segment.pointer)
    const message = `call ${quote(segment.id)} ${waits ? 'is still in flight: its output has yet to come' : 'has no output item'}`
    return [advisoryIf(waits, { pointer: segment.pointer, message })]
  })
}

/** An output whose call is nowhere in the list may answer one that the provider holds; a second output never does. */
function checkOutputs({ history, segments, paired }: RuleInput): readonly Finding[] {
  const called = new Set<string | null>()
  return segments.flatMap((row, number) =>
    row.flatMap((segment): readonly Finding[] => {
      if (segment.kind === 'call') called.add(segment.id)
      if (segment.kind !== 'result' || paired.has(segment.pointer)) return []
      const { id, pointer } = segment
      if (id !== null && called.has(id)) return [{ pointer, message: `second output for ${quote(id)}` }]
      const finding = { pointer, message: `output for ${quote(id)}, which no call before it has` }
      return [advisoryIf(mayHoldEarlier(history, number), finding)]
    }),
  )
}

function checkCompaction({ history }: RuleInput): readonly Finding[] {
  const last = history.messages.length - 1
  return history.messages.flatMap(({ value }, number): readonly Finding[] => {
    const pointer = jsonPointer([history.listField, number])
    const type = itemType(value)
    if (type === 'compaction_trigger' && number < last)
      return [{ pointer, message: 'a compaction_trigger that is not the last item' }]
    if (type !== 'compaction' || (typeof value.encrypted_content === 'string' && value.encrypted_content !== ''))
      return []
    return [{ pointer, message: 'a compaction item without its encrypted_content: keep it as it came' }]
  })
}

/** Advisory: seen to work at OpenAI as long as each output follows its call (assumption), and rejected by some proxies. */
function checkUniqueIds({ segments }: RuleInput): readonly Finding[] {
  const used = new Set<string>()
  return segments.flat().flatMap((segment): readonly Finding[] => {
    if (segment.kind !== 'call' || segment.id === null) return []
    const again = used.has(segment.id)
    used.add(segment.id)
    const message = `call_id ${quote(segment.id)} is used by an earlier call`
    return again ? [{ pointer: segment.pointer, message, advisory: true }] : []
  })
}

function checkEmpty({ history, segments }: RuleInput): readonly Finding[] {
  return history.messages.flatMap((message, number): readonly Finding[] => {
    if (itemType(message.value) !== 'message') return []
    if (message.value.content === '' || message.blocks?.length === 0)
      return [
        { pointer: jsonPointer([history.listField, number, 'content']), message: 'empty content', advisory: true },
      ]
    return (segments[number] ?? []).flatMap((segment): readonly Finding[] =>
      segment.kind === 'text' && segment.text === ''
        ? [{ pointer: segment.pointer, message: 'an empty text', advisory: true }]
        : [],
    )
  })
}
