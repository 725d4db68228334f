/**
 * A5, A7, A8, A14, A15: order and content of Anthropic Messages. A6 (neighbouring messages of one role are combined) allows
 * something and so has no check. A9 and A13 are in thinking-rules.ts. Pure.
 */
import type { HistoryMessage } from '../history.ts'
import { jsonPointer } from '../json-pointer.ts'
import { type Finding, quote, type Rule, type RuleInput } from '../rules/rule.ts'
import { isObject, type Segment } from '../segment.ts'

const TOOL_ID = /^[a-zA-Z0-9_-]+$/

const ASK = '{"role":"user","content":"go"}'
const withId = (id: string): string =>
  `[${ASK},{"role":"assistant","content":[{"type":"tool_use","id":"${id}","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"${id}","content":"ok"}]}]`
const withTools = (tools: string): string => `{"messages":${withId('a')},"tools":[${tools}]}`

export const ANTHROPIC_CONTENT_RULES: readonly Rule[] = [
  {
    id: 'A5',
    format: 'anthropic-messages',
    sentence: 'The first message that is not a system message has role user.',
    check: checkFirstRole,
    examples: { violating: `[{"role":"assistant","content":"hello"},${ASK}]`, valid: `[${ASK}]` },
  },
  {
    id: 'A7',
    format: 'anthropic-messages',
    sentence: 'The last message is not an assistant message (models without prefill).',
    check: checkLastRole,
    examples: { violating: `[${ASK},{"role":"assistant","content":"done"}]`, valid: `[${ASK}]` },
  },
  {
    id: 'A8',
    format: 'anthropic-messages',
    sentence:
      'No text block is empty or white space only, and no content is empty (but that of a final assistant message).',
    check: checkEmpty,
    examples: { violating: '[{"role":"user","content":[{"type":"text","text":" "}]}]', valid: `[${ASK}]` },
  },
  {
    id: 'A14',
    format: 'anthropic-messages',
    sentence: 'Tool ids match ^[a-zA-Z0-9_-]+$.',
    check: checkToolIds,
    examples: { violating: withId('a:0'), valid: withId('a_0') },
  },
  {
    id: 'A15',
    format: 'anthropic-messages',
    sentence:
      'A request whose `tools` is an empty list holds no tool blocks (Bedrock; a bare message list cannot tell).',
    check: checkToolsSent,
    examples: { violating: withTools(''), valid: withTools('{"name":"ls","input_schema":{"type":"object"}}') },
  },
]

function checkFirstRole({ history }: RuleInput): readonly Finding[] {
  const first = history.messages.findIndex((message) => message.role !== 'system')
  const message = history.messages[first]
  if (message === undefined || message.role === 'user' || beginsWithCompaction(message)) return []
  return [
    { pointer: jsonPointer([history.listField, first]), message: 'the first message has role assistant, not user' },
  ]
}

/** It stands for what came before, the first turn of the user included (A13). */
function beginsWithCompaction({ blocks }: HistoryMessage): boolean {
  const value = blocks?.[0]?.value
  return isObject(value) && value.type === 'compaction'
}

function checkLastRole({ history }: RuleInput): readonly Finding[] {
  const last = history.messages.length - 1
  if (history.messages[last]?.role !== 'assistant') return []
  const message = "the last message is the assistant's: models without prefill want a user message after it"
  return [{ pointer: jsonPointer([history.listField, last]), message, advisory: true }]
}

function checkEmpty({ history, segments }: RuleInput): readonly Finding[] {
  return history.messages.flatMap((message, number) => {
    const final = number === history.messages.length - 1 && message.role === 'assistant'
    if (message.value.content === '' || message.blocks?.length === 0) {
      if (final) return []
      return [{ pointer: jsonPointer([history.listField, number, 'content']), message: 'empty content' }]
    }
    return (segments[number] ?? [])
      .filter((segment) => segment.kind === 'text' && segment.text.trim() === '')
      .map(({ pointer }) => ({ pointer, message: 'a text without anything but white space' }))
  })
}

function checkToolIds({ segments }: RuleInput): readonly Finding[] {
  return segments.flat().flatMap((segment) => {
    if (!isToolSegment(segment) || segment.id === null || TOOL_ID.test(segment.id)) return []
    return [{ pointer: segment.pointer, message: `tool id ${quote(segment.id)} does not match ${TOOL_ID.source}` }]
  })
}

function checkToolsSent({ history, segments }: RuleInput): readonly Finding[] {
  if (!Array.isArray(history.tools?.value) || history.tools.value.length > 0) return []
  return segments
    .flat()
    .filter(isToolSegment)
    .map(({ pointer }) => ({ pointer, message: 'a tool block in a request that sends no tools', advisory: true }))
}

function isToolSegment(segment: Segment): segment is Extract<Segment, { kind: 'call' | 'result' }> {
  return segment.kind === 'call' || segment.kind === 'result'
}
