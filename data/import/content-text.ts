/**
 * Content of a message or a tool result as text, by the same rule as the protocol parsers: text blocks joined by line
 * breaks and complete, an image or another opaque blob as its short bracketed description, lone surrogates repaired. Pure.
 */
import { flattenContent } from '../../src/protocol/flatten-content.ts'
import type { JsonValue } from '../../src/protocol/history.ts'
import { toWellFormed } from '../../src/protocol/well-formed.ts'

/** @param content a value from JSON.parse: string, list of blocks, null; an object becomes its JSON text */
export function contentText(content: unknown): string {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string' || Array.isArray(content))
    return toWellFormed(flattenContent(content as JsonValue).text)
  return toWellFormed(JSON.stringify(content))
}
