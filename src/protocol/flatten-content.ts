/**
 * The text of a content field: a string, a list of blocks, or nothing. Pure.
 */
import type { JsonValue } from './history.ts'
import type { Media } from './media.ts'
import { readMedia } from './read-media.ts'
import { describeOpaque, isObject } from './segment.ts'

/** Text blocks joined by newlines; anything else as its bracketed description, media beside it. */
export function flattenContent(content: JsonValue | undefined): {
  readonly text: string
  readonly media: readonly Media[]
} {
  if (typeof content === 'string') return { text: content, media: [] }
  if (!Array.isArray(content)) return { text: '', media: [] }
  const media: Media[] = []
  const texts = content.map((block: JsonValue) => {
    if (typeof block === 'string') return block
    if (isObject(block) && typeof block.text === 'string') return block.text
    const medium = readMedia(block)
    if (medium !== null) media.push(medium)
    return describeOpaque(isObject(block) && typeof block.type === 'string' ? block.type : 'unknown block')
  })
  return { text: texts.join('\n'), media }
}
