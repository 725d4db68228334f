/**
 * What an item of OpenAI Responses is, by its type (reference/formats.md; openai-node @7b7d6ca7 ResponseInputItem). Pure.
 */
import type { MessageRole } from '../history.ts'
import type { JsonPath } from '../json-pointer.ts'
import { readNamedRole } from '../read-named-role.ts'
import { type JsonObject, malformed } from '../segment.ts'

/**
 * `call` is answered by an item of the client, `output` is that item; `hosted` is a tool that the provider ran itself, call
 * and result in one item. `state` belongs to the model's response and means something to the provider alone.
 */
export type ItemKind = 'message' | 'reasoning' | 'call' | 'output' | 'hosted' | 'state' | 'compaction' | 'other'

const KINDS: Readonly<Record<string, ItemKind>> = {
  message: 'message',
  reasoning: 'reasoning',
  function_call: 'call',
  function_call_output: 'output',
  custom_tool_call: 'call',
  custom_tool_call_output: 'output',
  local_shell_call: 'call',
  local_shell_call_output: 'output',
  shell_call: 'call',
  shell_call_output: 'output',
  apply_patch_call: 'call',
  apply_patch_call_output: 'output',
  computer_call: 'call',
  computer_call_output: 'output',
  program: 'call',
  program_output: 'output',
  web_search_call: 'hosted',
  file_search_call: 'hosted',
  code_interpreter_call: 'hosted',
  mcp_call: 'hosted',
  image_generation_call: 'state',
  mcp_list_tools: 'state',
  mcp_approval_request: 'state',
  compaction: 'compaction',
  compaction_summary: 'compaction',
}

const ROLES: Readonly<Record<string, MessageRole>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
}

/** A message may leave its type out, and so may a reference, which then has an id and nothing else to go by. */
export function itemType(value: JsonObject): string | null {
  if (typeof value.type === 'string') return value.type
  if (value.type !== undefined && value.type !== null) return null
  if (typeof value.role === 'string') return 'message'
  return typeof value.id === 'string' ? 'item_reference' : null
}

export function itemKind(value: JsonObject): ItemKind {
  const type = itemType(value) ?? ''
  if (Object.hasOwn(KINDS, type)) return KINDS[type] ?? 'other'
  // Tools that are younger than this table: what the model does ends in _call.
  return type.endsWith('_call') ? 'state' : 'other'
}

/** @throws history-malformed for an item without type and role, or a message of no known role */
export function readItemRole(value: JsonObject, path: JsonPath): MessageRole {
  if (itemType(value) === null) throw malformed(path, 'an item with a type, or a message with a role')
  const kind = itemKind(value)
  switch (kind) {
    case 'message':
      return readNamedRole(value, path, { format: 'openai-responses', roles: ROLES })
    case 'reasoning':
    case 'call':
    case 'hosted':
    case 'state':
    case 'compaction':
      return 'assistant'
    case 'output':
      return 'tool'
    case 'other':
      return 'opaque'
    default:
      return kind satisfies never
  }
}
