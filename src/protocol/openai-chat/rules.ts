/**
 * C1-C5: OpenAI chat completions. Pure.
 */
import { jsonPointer } from '../json-pointer.ts'
import { advisoryIf, type Finding, quote, type Rule, type RuleInput } from '../rules/rule.ts'
import type { CallSegment } from '../segment.ts'

/** Longest tool-call id that some host accepts, and that OpenAI itself accepts (both reported). */
const MAX_ID_CHARS = 64
export const SAFE_ID_CHARS = 40

const ASK = '{"role":"user","content":"go"}'
const call = (id: string, args: string): string =>
  `{"role":"assistant","content":null,"tool_calls":[{"id":"${id}","type":"function","function":{"name":"ls","arguments":"${args}"}}]}`
const tool = (id: string): string => `{"role":"tool","tool_call_id":"${id}","content":"ok"}`
const list = (...messages: readonly string[]): string => `[${messages.join(',')}]`
const VALID = list(ASK, call('a', '{}'), tool('a'))

export const OPENAI_RULES: readonly Rule[] = [
  {
    id: 'C1',
    format: 'openai-chat',
    sentence: 'Every tool call is answered by a tool message before any message of another role.',
    check: (input) => walkBatches(input).unanswered,
    examples: { violating: list(ASK, call('a', '{}'), ASK), valid: VALID },
  },
  {
    id: 'C2',
    format: 'openai-chat',
    sentence: 'Every tool message answers an open call of the assistant message before it, once.',
    check: (input) => walkBatches(input).orphans,
    examples: { violating: list(ASK, tool('a')), valid: VALID },
  },
  {
    id: 'C3',
    format: 'openai-chat',
    sentence: 'An assistant message has content, or tool calls.',
    check: checkAssistantContent,
    examples: {
      violating: list(ASK, '{"role":"assistant","content":null}'),
      valid: list(ASK, '{"role":"assistant","content":"yes"}'),
    },
  },
  {
    id: 'C4',
    format: 'openai-chat',
    sentence: `Tool-call ids have at most ${SAFE_ID_CHARS} characters (${MAX_ID_CHARS} on some hosts).`,
    check: checkIdLength,
    examples: {
      violating: list(ASK, call('a'.repeat(65), '{}'), tool('a'.repeat(65))),
      valid: list(ASK, call('a'.repeat(40), '{}'), tool('a'.repeat(40))),
    },
  },
  {
    id: 'C5',
    format: 'openai-chat',
    sentence: 'The arguments of a function call are a JSON text (strict back ends; OpenAI itself is lenient).',
    check: checkArguments,
    examples: { violating: list(ASK, call('a', '{'), tool('a')), valid: VALID },
  },
]

/** One pass: a batch is an assistant message with calls and the tool messages directly after it. */
function walkBatches(input: RuleInput): {
  readonly unanswered: readonly Finding[]
  readonly orphans: readonly Finding[]
} {
  const unanswered: Finding[] = []
  const orphans: Finding[] = []
  let open: CallSegment[] = []
  const close = (): void => {
    for (const { id, pointer } of open) {
      const waits = input.inFlight.has(pointer)
      const message = `tool call ${quote(id)} ${waits ? 'is still in flight: its result has yet to come' : 'has no tool message directly after its batch'}`
      unanswered.push(advisoryIf(waits, { pointer, message }))
    }
    open = []
  }
  for (const segments of input.segments) {
    const [first] = segments
    if (first?.kind === 'result') {
      const at = open.findIndex((one) => one.id === first.id && (one.id !== null || one.name === first.name))
      if (at === -1)
        orphans.push({ pointer: first.pointer, message: `tool message for ${quote(first.id)}, which no open call has` })
      else open.splice(at, 1)
    } else {
      close()
      open = segments.filter((segment) => segment.kind === 'call')
    }
  }
  close()
  return { unanswered, orphans }
}

function checkAssistantContent({ history, segments }: RuleInput): readonly Finding[] {
  return history.messages.flatMap((message, number): readonly Finding[] => {
    if (message.role !== 'assistant') return []
    const pointer = jsonPointer([history.listField, number])
    const calls = message.value.tool_calls
    if (Array.isArray(calls) && calls.length === 0)
      return [
        {
          pointer: `${pointer}/tool_calls`,
          message: 'an empty list of tool calls: leave the field out',
          advisory: true,
        },
      ]
    const says = (segments[number] ?? []).some((segment) => segment.kind !== 'reasoning')
    return says ? [] : [{ pointer, message: 'an assistant message without content and without tool calls' }]
  })
}

function checkIdLength({ segments }: RuleInput): readonly Finding[] {
  return segments.flat().flatMap((segment) => {
    if ((segment.kind !== 'call' && segment.kind !== 'result') || segment.id === null) return []
    const { length } = segment.id
    if (length <= SAFE_ID_CHARS) return []
    const finding = { pointer: segment.pointer, message: `a tool-call id of ${length} characters` }
    return [advisoryIf(length <= MAX_ID_CHARS, finding)]
  })
}

/** Advisory: logs are full of empty and torn arguments that their provider accepted. */
function checkArguments({ history, segments }: RuleInput): readonly Finding[] {
  return segments.flatMap((row, number) => {
    const raw = history.messages[number]?.value
    return row.flatMap((segment, place): readonly Finding[] => {
      if (segment.kind !== 'call' || raw === undefined || isCustom(raw.tool_calls, place - firstCall(row))) return []
      if (isJson(segment.arguments)) return []
      return [{ pointer: segment.pointer, message: 'arguments that are no JSON text', advisory: true }]
    })
  })
}

function firstCall(row: readonly { readonly kind: string }[]): number {
  return row.findIndex((segment) => segment.kind === 'call')
}

/** Custom tools take free text. */
function isCustom(calls: unknown, number: number): boolean {
  const call: unknown = Array.isArray(calls) ? calls[number] : undefined
  return typeof call === 'object' && call !== null && 'custom' in call
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
