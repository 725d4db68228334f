/**
 * The text of a content field: a string, a list of blocks, or nothing. Pure.
 */
import type { JsonValue } from './history.ts'
import { describeOpaque, isObject } from './segment.ts'

/** Text blocks joined by newlines; anything else as its bracketed description, counted as media. */
export function flattenContent(content: JsonValue | undefined): { readonly text: string; readonly media: number } {
  if (typeof content === 'string') return { text: content, media: 0 }
  if (!Array.isArray(content)) return { text: '', media: 0 }
  let media = 0
  const texts = content.map((block: JsonValue) => {
    if (typeof block === 'string') return block
    if (isObject(block) && typeof block.text === 'string') return block.text
    media++
    return describeOpaque(isObject(block) && typeof block.type === 'string' ? block.type : 'unknown block')
  })
  return { text: texts.join('\n'), media }
}
