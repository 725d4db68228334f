/**
 * V6-V10: contents and order of AI SDK messages (reference/protocol.md section 5; ids ours). The SDK itself throws for V7, V8
 * and for an empty list in V9. Empty tool messages and empty text parts break nothing: the SDK drops them. Pure.
 */
import type { HistoryMessage } from '../history.ts'
import { jsonPointer } from '../json-pointer.ts'
import { advisoryIf, type Finding, type Rule, type RuleInput } from '../rules/rule.ts'
import { isObject, type Segment } from '../segment.ts'
import { ASK, assistant, call, list, result, tool, VALID } from './examples.ts'

export const AI_SDK_CONTENT_RULES: readonly Rule[] = [
  {
    id: 'V6',
    format: 'ai-sdk',
    sentence: 'No assistant or user message is empty, or holds nothing but reasoning, once empty texts are dropped.',
    check: checkEmpty,
    examples: {
      violating: list(ASK, assistant(), ASK),
      valid: list(ASK, assistant('{"type":"text","text":"a"}'), ASK),
    },
  },
  {
    id: 'V7',
    format: 'ai-sdk',
    sentence: 'The content of a tool message is a list of parts, not a string.',
    check: checkToolContent,
    examples: { violating: list(ASK, '{"role":"tool","content":"ok"}', ASK), valid: VALID },
  },
  {
    id: 'V8',
    format: 'ai-sdk',
    sentence: 'The output of a tool result is an object {type, value} of a known type.',
    check: checkOutputs,
    examples: { violating: list(ASK, assistant(call('a')), tool(result('a', '"ok"'))), valid: VALID },
  },
  {
    id: 'V9',
    format: 'ai-sdk',
    sentence: 'There is a message, and the first that is no system message has role user (Anthropic, Gemini).',
    check: checkFirst,
    examples: { violating: list(assistant('{"type":"text","text":"hello"}'), ASK), valid: list(ASK) },
  },
  {
    id: 'V10',
    format: 'ai-sdk',
    sentence: 'The last message is not an assistant message (models without prefill).',
    check: checkLast,
    examples: { violating: list(ASK, assistant('{"type":"text","text":"done"}')), valid: list(ASK) },
  },
]

function checkEmpty({ history, segments }: RuleInput): readonly Finding[] {
  return history.messages.flatMap(({ role }, number): readonly Finding[] => {
    if (role !== 'assistant' && role !== 'user') return []
    const kept = (segments[number] ?? []).filter((segment) => segment.kind !== 'text' || segment.text !== '')
    const pointer = jsonPointer([history.listField, number])
    // Some providers take an empty user message, or thinking alone.
    if (kept.length === 0) return [advisoryIf(role === 'user', { pointer, message: `an empty ${role} message` })]
    if (role === 'user' || kept.some((segment) => segment.kind !== 'reasoning')) return []
    return [{ pointer, message: 'an assistant message of reasoning alone', advisory: true }]
  })
}

function checkToolContent({ history }: RuleInput): readonly Finding[] {
  return history.messages.flatMap(({ role, blocks }, number) =>
    role === 'tool' && blocks === null
      ? [
          {
            pointer: jsonPointer([history.listField, number, 'content']),
            message: 'a tool message whose content is a string',
          },
        ]
      : [],
  )
}

const OUTPUT_TYPES: readonly unknown[] = ['text', 'json', 'error-text', 'error-json', 'content', 'execution-denied']

function checkOutputs({ history, segments }: RuleInput): readonly Finding[] {
  return history.messages.flatMap((message, number) =>
    (segments[number] ?? [])
      .filter((segment) => segment.kind === 'result' && segment.block !== null && !hasOutput(message, segment))
      .map(({ pointer }) => ({ pointer, message: 'a tool result whose `output` is no {type, value} of a known type' })),
  )
}

function hasOutput({ blocks }: HistoryMessage, { block }: Segment): boolean {
  const part = blocks?.[block ?? 0]?.value
  const output = isObject(part) ? part.output : undefined
  if (!isObject(output) || !OUTPUT_TYPES.includes(output.type)) return false
  return output.type === 'execution-denied' || 'value' in output
}

function checkFirst({ history }: RuleInput): readonly Finding[] {
  const { messages, listField } = history
  if (messages.length === 0) return [{ pointer: jsonPointer([listField]), message: 'an empty list of messages' }]
  const first = messages.findIndex(({ role }) => role !== 'system')
  if (messages[first]?.role !== 'assistant') return []
  const text = "the first message is the assistant's: some providers want a user message before it"
  return [{ pointer: jsonPointer([listField, first]), message: text, advisory: true }]
}

function checkLast({ history }: RuleInput): readonly Finding[] {
  const last = history.messages.length - 1
  if (history.messages[last]?.role !== 'assistant') return []
  const text = "the last message is the assistant's: models without prefill want a user message after it"
  return [{ pointer: jsonPointer([history.listField, last]), message: text, advisory: true }]
}
