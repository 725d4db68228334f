/**
 * The text of a request's system field, in any provider's form. Pure.
 */
import { flattenContent } from './flatten-content.ts'
import type { JsonValue } from './history.ts'
import { isObject } from './segment.ts'

/** A string, a list of text blocks or of system messages (AI SDK), a content with parts (Gemini), or one message. */
export function systemText(value: JsonValue | undefined): string {
  if (!isObject(value) && !Array.isArray(value)) return flattenContent(value).text
  if (isObject(value)) return systemText(value.parts ?? value.content ?? [value])
  const blocks = value.map((block: JsonValue) =>
    isObject(block) && typeof block.content === 'string' ? block.content : block,
  )
  return flattenContent(blocks).text
}
