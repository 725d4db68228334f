/**
 * Raw JSON text of a message list, or of a request body that holds one, into a History with raw slices. Pure.
 * Values are parsed with JSON.parse for reading only; what leaves again is spliced from the slices.
 */
import { AppError } from '../errors.ts'
import { ANTHROPIC_ROLES } from './anthropic-segments.ts'
import type { History, HistoryBlock, HistoryFormat, HistoryMessage, JsonValue } from './history.ts'
import { OPENAI_ROLES } from './openai-segments.ts'
import { readSegments } from './read-segments.ts'
import { type JsonNode, scanJson } from './scan-json.ts'
import { isObject, malformed } from './segment.ts'

/** Deep enough for body -> messages -> message -> content -> block. */
const KEPT_DEPTH = 4

const ROLES: Readonly<Record<HistoryFormat, readonly string[]>> = {
  'openai-chat': OPENAI_ROLES,
  'anthropic-messages': ANTHROPIC_ROLES,
}

/**
 * @param text a JSON list of messages, or an object with `messages` and perhaps `system` and `tools`
 * @returns pointers in later errors and violations are into the request, so a bare list counts as its `messages`
 * @throws history-malformed when the text is not JSON, or not a history of this format; with the JSON pointer
 */
export function parseHistory(text: string, format: HistoryFormat): History {
  const bare = /^[\ufeff\s]*\[/.test(text)
  const root = scanJson(text, { keepDepth: KEPT_DEPTH, root: bare ? ['messages'] : [] })
  const list = bare ? root : root.members.get('messages')
  if (root.kind === 'string' || root.kind === 'scalar' || list === undefined || list.kind !== 'array') {
    throw new AppError(
      'history-malformed',
      `this is no ${format} history: expected a list of messages, or a request body whose "messages" is one`,
      { details: { pointer: bare ? '' : '/messages' } },
    )
  }
  const messages = list.elements.map((node, index) => readMessage(text, node, { format, index }))
  return {
    format,
    messages,
    system: bare ? null : readField(text, root, 'system'),
    tools: bare ? null : readField(text, root, 'tools'),
  }
}

function readMessage(
  text: string,
  node: JsonNode,
  place: { readonly format: HistoryFormat; readonly index: number },
): HistoryMessage {
  const raw = text.slice(node.start, node.end)
  const message = parseMessage(raw, { ...place, node, offset: node.start })
  readSegments(place.format, message, place.index)
  return message
}

function parseMessage(
  raw: string,
  place: { readonly format: HistoryFormat; readonly index: number; readonly node: JsonNode; readonly offset: number },
): HistoryMessage {
  const path = ['messages', place.index]
  const value: JsonValue = JSON.parse(raw)
  if (!isObject(value)) throw malformed(path, 'a message, an object with role and content')
  const { role, content } = value
  const roles = ROLES[place.format]
  if (typeof role !== 'string' || !roles.includes(role))
    throw malformed([...path, 'role'], `one of the roles of ${place.format}: ${roles.join(', ')}`)
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content))
    throw malformed([...path, 'content'], 'a string or a list of content blocks')
  const nodes = place.node.members.get('content')?.elements ?? []
  const blocks = Array.isArray(content)
    ? nodes.map(
        (block, index): HistoryBlock => ({
          raw: raw.slice(block.start - place.offset, block.end - place.offset),
          value: content[index] ?? null,
        }),
      )
    : null
  return { raw, value, role, blocks }
}

/** One message from its own JSON text: what the renderer needs for a message that it has changed or made. */
export function parseOneMessage(raw: string, format: HistoryFormat, index: number): HistoryMessage {
  return readMessage(raw, scanJson(raw, { keepDepth: 2, root: ['messages', index] }), { format, index })
}

function readField(text: string, root: JsonNode, field: 'system' | 'tools'): HistoryBlock | null {
  const node = root.members.get(field)
  if (node === undefined) return null
  const raw = text.slice(node.start, node.end)
  const value: JsonValue = JSON.parse(raw)
  if (value === null) return null
  if (Array.isArray(value) || (field === 'system' && typeof value === 'string')) return { raw, value }
  throw malformed([field], field === 'system' ? 'a string or a list of text blocks' : 'a list of tools')
}
