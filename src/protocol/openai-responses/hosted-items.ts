/**
 * Tools that OpenAI runs itself: one item is the call and its result. Pure.
 */
import type { HistoryMessage, JsonValue } from '../history.ts'
import { type JsonPath, jsonPointer } from '../json-pointer.ts'
import type { Media } from '../media.ts'
import { readMedia } from '../read-media.ts'
import { describeOpaque, isObject, type JsonObject, type Segment } from '../segment.ts'
import { itemType } from './item-kind.ts'

/**
 * A call and its result. A call of an MCP server that a person has approved stays opaque: without it the approval would
 * stand alone, and the provider would run the tool again.
 */
export function readHosted({ value }: HistoryMessage, path: JsonPath): readonly Segment[] {
  const place = { block: null, pointer: jsonPointer(path) }
  const type = itemType(value) ?? ''
  if (typeof value.approval_request_id === 'string')
    return [{ ...place, kind: 'opaque', type, text: describeOpaque(type), media: null }]
  const id = typeof value.id === 'string' ? value.id : null
  const { name, input } = asked(type, value)
  const { content, media } = answered(type, value)
  const isError = value.status === 'failed' || (value.error !== undefined && value.error !== null)
  return [
    { ...place, kind: 'call', id, name, arguments: input },
    { ...place, kind: 'result', id, name, content, isError, media },
  ]
}

function asked(type: string, value: JsonObject): { readonly name: string; readonly input: string } {
  switch (type) {
    case 'mcp_call':
      return { name: textOr(value.name, 'mcp'), input: textOr(value.arguments, '') }
    case 'code_interpreter_call':
      return { name: 'code_interpreter', input: textOr(value.code, '') }
    case 'file_search_call':
      return { name: 'file_search', input: JSON.stringify({ queries: value.queries ?? [] }) }
    default:
      return { name: type.replace(/_call$/, ''), input: JSON.stringify(value.action ?? {}) }
  }
}

function answered(type: string, value: JsonObject): { readonly content: string; readonly media: readonly Media[] } {
  switch (type) {
    case 'mcp_call':
      return { content: mcpText(value), media: [] }
    case 'code_interpreter_call':
      return interpreted(value.outputs)
    case 'file_search_call':
      return { content: listOf(value.results).map(foundText).join('\n'), media: [] }
    default:
      // A web search shows its addresses at most; what it read is in the message after it.
      return { content: isObject(value.action) ? listOf(value.action.sources).map(address).join('\n') : '', media: [] }
  }
}

function mcpText({ output, error }: JsonObject): string {
  if (typeof output === 'string') return output
  if (error === undefined || error === null) return ''
  return typeof error === 'string' ? error : JSON.stringify(error)
}

function interpreted(outputs: JsonValue | undefined): { readonly content: string; readonly media: readonly Media[] } {
  const media: Media[] = []
  const texts = listOf(outputs).map((output) => {
    if (typeof output.logs === 'string') return output.logs
    const medium =
      typeof output.url === 'string' ? readMedia({ type: 'image_url', image_url: output.url }) : readMedia(output)
    if (medium !== null) media.push(medium)
    return describeOpaque(textOr(output.type, 'output'))
  })
  return { content: texts.join('\n'), media }
}

function foundText(result: JsonObject): string {
  return [textOr(result.filename, ''), textOr(result.text, '')].filter((text) => text !== '').join(': ')
}

function address(source: JsonObject): string {
  return textOr(source.url, '')
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
