/**
 * OpenAI Responses items: bare lists, request bodies with `input`, response bodies with `output`, logs that hold both, and
 * JSONL of any of them or of single items. Codex rollouts are codex.ts's.
 */
import { scanJson } from '../../src/protocol/scan-json.ts'
import { type ChatLogKind, chatShape, readChatLog } from './chat-log.ts'
import type { Importer } from './importer.ts'
import { isObject } from './json-value.ts'
import { hasResponsesParts, isResponsesItem } from './responses-item.ts'

const LOG: ChatLogKind = {
  format: 'openai-responses',
  isMessage: (value) =>
    isObject(value) && (isResponsesItem(value) || (typeof value.role === 'string' && 'content' in value)),
  bodyText: (raw, body) => (Array.isArray(body.input) && Array.isArray(body.output) ? joinOutput(raw) : raw),
}

export const openAiResponses: Importer = {
  name: 'openai-responses',
  summary: 'OpenAI Responses items (a list, a request or response body, or JSONL of them)',
  detect(sample) {
    if (sample.records.some(isCodexHeader)) return null
    const shape = chatShape(sample, LOG)
    if (shape === null) return null
    const types = [...new Set(shape.messages.filter(isResponsesItem).map((item) => String(item.type)))]
    if (types.length > 0) return { because: `items of type ${types.slice(0, 5).join(', ')}` }
    if (shape.messages.some(hasResponsesParts)) return { because: 'messages with input_text or output_text' }
    return shape.bodies.some((body) => Array.isArray(body.input))
      ? { because: 'a request body with a list as input' }
      : null
  },
  read: (file, context) => readChatLog(file, LOG, context),
}

/** First record of a bare Codex rollout, whose items look the same. */
function isCodexHeader(record: unknown): boolean {
  return (
    isObject(record) &&
    !('type' in record) &&
    typeof record.id === 'string' &&
    'instructions' in record &&
    !('output' in record)
  )
}

/** A request logged with its response: one list, the output behind the input. */
function joinOutput(raw: string): string {
  const { members } = scanJson(raw, { keepDepth: 2 })
  const elements = ['input', 'output'].flatMap((field) =>
    (members.get(field)?.elements ?? []).map((node) => raw.slice(node.start, node.end)),
  )
  const others = [...members].flatMap(([key, node]) =>
    key === 'input' || key === 'output' ? [] : [`${JSON.stringify(key)}:${raw.slice(node.start, node.end)}`],
  )
  return `{${[...others, `"input":[${elements.join(',')}]`].join(',')}}`
}
