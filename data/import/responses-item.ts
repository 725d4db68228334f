/**
 * Whether a record of unknown shape is an item of OpenAI Responses. Pure.
 */
import { itemKind, itemType } from '../../src/protocol/openai-responses/item-kind.ts'
import { arrayOf, isObject, type JsonObject } from './json-value.ts'

/** Its type is one of Responses, and it has what an item of that type has: other logs call their records alike. */
export function isResponsesItem(value: unknown): boolean {
  if (!isObject(value) || typeof value.type !== 'string') return false
  const item = { type: value.type }
  switch (itemKind(item)) {
    case 'message':
      return typeof value.role === 'string' && 'content' in value
    case 'reasoning':
      return Array.isArray(value.summary)
    case 'call':
    case 'output':
      return typeof value.call_id === 'string' || value.type === 'local_shell_call_output'
    case 'compaction':
      return typeof value.encrypted_content === 'string'
    case 'hosted':
      return typeof value.id === 'string'
    case 'state':
    case 'other':
      return OTHER_ITEMS.includes(itemType(item) ?? '') && (typeof value.id === 'string' || 'approve' in value)
    default:
      return false
  }
}

const OTHER_ITEMS: readonly string[] = [
  'item_reference',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_call',
  'tool_search_output',
]

/** A message whose text stands in the parts that only Responses has. */
export function hasResponsesParts({ content }: JsonObject): boolean {
  return arrayOf(content).some((part) => isObject(part) && (part.type === 'input_text' || part.type === 'output_text'))
}
