/**
 * Raw JSON text of a message list, or of a request body that holds one, into a History with raw slices. Pure.
 * Values are parsed with JSON.parse for reading only; what leaves again is spliced from the slices.
 */
import { AppError } from '../errors.ts'
import { FORMATS } from './formats.ts'
import type { History, HistoryBlock, HistoryFormat, HistoryMessage, JsonValue } from './history.ts'
import type { JsonPath } from './json-pointer.ts'
import type { ProviderFormat } from './provider-format.ts'
import { readSegments } from './read-segments.ts'
import { type JsonNode, scanJson } from './scan-json.ts'
import { isObject, type JsonObject, malformed } from './segment.ts'

/** Deep enough for body -> messages -> message -> content -> block. */
const KEPT_DEPTH = 4

/**
 * @param text a JSON list of messages, or a request body that holds one in the format's own field (messages, input,
 * contents) beside its other fields
 * @param parsed JSON.parse of the text, where the caller has it already
 * @returns pointers in later errors and violations are into the request; a bare list counts as that field
 * @throws history-malformed when the text is not JSON, or not a history of this format; with the JSON pointer
 */
export function parseHistory(text: string, formatName: HistoryFormat, parsed?: JsonValue): History {
  const format = FORMATS[formatName]
  const [ownField] = format.listFields
  const bare = /^[\ufeff\s]*\[/.test(text)
  const root = scanJson(text, {
    keepDepth: KEPT_DEPTH,
    root: bare ? [ownField] : [],
    isParsed: parsed !== undefined,
  })
  const listField = bare ? ownField : (format.listFields.find((field) => root.members.has(field)) ?? ownField)
  const list = bare ? root : root.members.get(listField)
  if (list?.kind === 'string' && format.listFields.length > 1)
    return fromString(text, { format, root, list, listField })
  if (root.kind === 'string' || root.kind === 'scalar' || list === undefined || list.kind !== 'array') {
    throw new AppError(
      'history-malformed',
      `this is no ${format.name} history: expected a list of ${format.noun}, or a request body whose "${listField}" is one`,
      { details: { pointer: bare ? '' : `/${listField}` } },
    )
  }
  const values = bare ? parsed : isObject(parsed) ? parsed[listField] : undefined
  const known = Array.isArray(values) ? values : null
  const messages = list.elements.map((node, index) =>
    readMessage(text, node, { format, path: [listField, index], value: known?.[index] }),
  )
  return { format: format.name, listField, messages, ...readFields(text, bare ? null : root, format) }
}

/** One message from its own JSON text: what the renderer needs for a message that it has changed or made. */
export function parseOneMessage(
  raw: string,
  history: Pick<History, 'format' | 'listField'>,
  index: number,
): HistoryMessage {
  const path = [history.listField, index]
  return readMessage(raw, scanJson(raw, { keepDepth: 2, root: path }), { format: FORMATS[history.format], path })
}

function readMessage(
  text: string,
  node: JsonNode,
  place: { readonly format: ProviderFormat; readonly path: JsonPath; readonly value?: JsonValue | undefined },
): HistoryMessage {
  const { format, path } = place
  const raw = text.slice(node.start, node.end)
  const value: JsonValue = place.value === undefined ? JSON.parse(raw) : place.value
  if (!isObject(value)) throw malformed(path, `one of the ${format.noun}, an object`)
  const role = format.readRole(value, path)
  const content = value[format.blockField]
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content))
    throw malformed([...path, format.blockField], 'a string or a list of content blocks')
  const nodes = node.members.get(format.blockField)?.elements ?? []
  const blocks = Array.isArray(content)
    ? nodes.map(
        (block, index): HistoryBlock => ({
          raw: raw.slice(block.start - node.start, block.end - node.start),
          value: content[index] ?? null,
        }),
      )
    : null
  const message = { raw, value, role, blocks }
  readSegments({ format: format.name, listField: String(path[0]) }, message, Number(path[1]))
  return message
}

/** A body whose list is one string stands for one user message (Responses `input`). */
function fromString(
  text: string,
  given: {
    readonly format: ProviderFormat
    readonly root: JsonNode
    readonly list: JsonNode
    readonly listField: string
  },
): History {
  const { format, listField } = given
  const said: JsonValue = JSON.parse(text.slice(given.list.start, given.list.end))
  const raw = JSON.stringify(format.userMessage(String(said)))
  const messages = [parseOneMessage(raw, { format: format.name, listField }, 0)]
  return { format: format.name, listField, messages, ...readFields(text, given.root, format) }
}

function readFields(
  text: string,
  root: JsonNode | null,
  format: ProviderFormat,
): Pick<History, 'system' | 'tools' | 'request'> {
  if (root === null) return { system: null, tools: null, request: {} }
  const request: { [key: string]: JsonValue } = {}
  for (const [name, node] of root.members)
    if (!format.listFields.includes(name) && name !== '__proto__')
      request[name] = JSON.parse(text.slice(node.start, node.end))
  return { system: readSystem(text, root, format), tools: readTools(text, root, format), request }
}

function readField(text: string, root: JsonNode, field: string): HistoryBlock | null {
  const node = root.members.get(field)
  if (node === undefined) return null
  const raw = text.slice(node.start, node.end)
  const value: JsonValue = JSON.parse(raw)
  return value === null ? null : { raw, value }
}

function readSystem(text: string, root: JsonNode, format: ProviderFormat): HistoryBlock | null {
  for (const name of [format.systemField, ...(format.systemAliases ?? [])]) {
    const field = readField(text, root, name)
    if (field === null) continue
    if (typeof field.value === 'string' || Array.isArray(field.value) || isContent(field.value)) return field
    throw malformed([name], 'a string or a list of text blocks')
  }
  return null
}

/** Gemini's systemInstruction is a content with parts, the AI SDK's system may be a message. */
function isContent(value: JsonValue): value is JsonObject {
  return isObject(value) && (Array.isArray(value.parts) || typeof value.content === 'string')
}

function readTools(text: string, root: JsonNode, { toolsAreMap }: ProviderFormat): HistoryBlock | null {
  const field = readField(text, root, 'tools')
  if (field === null || Array.isArray(field.value)) return field
  if (toolsAreMap === true && isObject(field.value)) return field
  throw malformed(['tools'], 'a list of tools')
}
