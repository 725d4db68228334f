/**
 * The calls, results and texts of a rendered list in their order, read from the provider's JSON alone: the checks must not
 * trust the parser that they check. Pure.
 */
import type { HistoryFormat, JsonValue } from '../../protocol/history.ts'
import { isObject, type JsonObject } from '../../protocol/segment.ts'

export type ToolEvent =
  | {
      readonly kind: 'call'
      readonly message: number
      readonly id: string
      readonly name: string
      readonly args: string
    }
  | {
      readonly kind: 'result'
      readonly message: number
      readonly id: string
      readonly name: string
      readonly text: string
    }
  | { readonly kind: 'text'; readonly message: number; readonly role: string; readonly text: string }

/** Ids that a format leaves out are made from name and number, so that calls and results still meet. */
export function toolEvents(format: HistoryFormat, messages: readonly JsonValue[]): readonly ToolEvent[] {
  return messages.flatMap((message, number) => (isObject(message) ? READERS[format](message, number) : []))
}

type Reader = (message: JsonObject, number: number) => readonly ToolEvent[]

const READERS: Readonly<Record<HistoryFormat, Reader>> = {
  'openai-chat': readOpenAi,
  'anthropic-messages': (message, number) => readBlocks(message, number, readAnthropicBlock),
  'openai-responses': readResponses,
  'gemini-contents': readGemini,
  'ai-sdk': (message, number) => readBlocks(message, number, readAiSdkPart),
}

function readOpenAi(message: JsonObject, number: number): readonly ToolEvent[] {
  const role = str(message.role)
  if (role === 'tool')
    return [
      {
        kind: 'result',
        message: number,
        id: str(message.tool_call_id),
        name: str(message.name),
        text: plain(message.content),
      },
    ]
  const calls = list(message.tool_calls).map((call): ToolEvent => {
    const body = isObject(call.function) ? call.function : isObject(call.custom) ? call.custom : {}
    return {
      kind: 'call',
      message: number,
      id: str(call.id),
      name: str(body.name),
      args: plain(body.arguments ?? body.input),
    }
  })
  return [...texts(role, number, plain(message.content)), ...calls]
}

function readBlocks(
  message: JsonObject,
  number: number,
  readBlock: (block: JsonObject, number: number) => ToolEvent | null,
): readonly ToolEvent[] {
  const role = str(message.role)
  if (typeof message.content === 'string') return texts(role, number, message.content)
  return list(message.content).flatMap((block) => {
    const event = readBlock(block, number)
    if (event !== null) return [event]
    return block.type === 'text' ? texts(role, number, plain(block.text)) : []
  })
}

function readAnthropicBlock(block: JsonObject, message: number): ToolEvent | null {
  if (block.type === 'tool_use')
    return { kind: 'call', message, id: str(block.id), name: str(block.name), args: plain(block.input) }
  if (block.type === 'tool_result')
    return { kind: 'result', message, id: str(block.tool_use_id), name: '', text: plain(block.content) }
  return null
}

function readAiSdkPart(part: JsonObject, message: number): ToolEvent | null {
  if (part.type === 'tool-call')
    return { kind: 'call', message, id: str(part.toolCallId), name: str(part.toolName), args: plain(part.input) }
  if (part.type !== 'tool-result') return null
  const value = isObject(part.output) ? part.output.value : part.output
  return { kind: 'result', message, id: str(part.toolCallId), name: str(part.toolName), text: plain(value) }
}

function readResponses(item: JsonObject, message: number): readonly ToolEvent[] {
  const type = typeof item.type === 'string' ? item.type : 'message'
  if (type === 'message') return texts(str(item.role), message, plain(item.content))
  if (type.endsWith('_call_output'))
    return [{ kind: 'result', message, id: str(item.call_id), name: '', text: plain(item.output) }]
  if (
    type === 'function_call' ||
    type === 'custom_tool_call' ||
    type === 'local_shell_call' ||
    type === 'computer_call'
  )
    return [
      {
        kind: 'call',
        message,
        id: str(item.call_id),
        name: str(item.name),
        args: plain(item.arguments ?? item.input ?? item.action),
      },
    ]
  return []
}

function readGemini(content: JsonObject, message: number): readonly ToolEvent[] {
  const role = content.role === 'model' ? 'assistant' : 'user'
  const counts = new Map<string, number>()
  const idOf = (call: JsonObject): string => {
    if (typeof call.id === 'string') return call.id
    const name = str(call.name)
    const nth = counts.get(name) ?? 0
    counts.set(name, nth + 1)
    return `${name}#${nth}`
  }
  return list(content.parts).flatMap((part): readonly ToolEvent[] => {
    if (isObject(part.functionCall)) {
      const call = part.functionCall
      return [{ kind: 'call', message, id: idOf(call), name: str(call.name), args: plain(call.args) }]
    }
    if (isObject(part.functionResponse)) {
      const { functionResponse: answer } = part
      const given = isObject(answer.response)
        ? (answer.response.output ?? answer.response.error ?? answer.response)
        : null
      return [{ kind: 'result', message, id: idOf(answer), name: str(answer.name), text: plain(given) }]
    }
    return part.thought === true ? [] : texts(role, message, plain(part.text))
  })
}

function texts(role: string, message: number, text: string): readonly ToolEvent[] {
  return text === '' ? [] : [{ kind: 'text', message, role, text }]
}

/** Text of a string or of a list of text blocks; other values as JSON. */
function plain(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((block) => isObject(block) && 'type' in block))
    return value.map((block) => (isObject(block) ? str(block.text) : '')).join('\n')
  return JSON.stringify(value)
}

function list(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((element) => isObject(element)) : []
}

function str(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
