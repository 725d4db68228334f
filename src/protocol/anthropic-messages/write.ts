/**
 * The provider-free form as Anthropic Messages. Pure.
 */
import type { NeutralPart, NeutralTurn, WrittenHistory } from '../convert/neutral.ts'
import type { JsonValue } from '../history.ts'
import { describeMedia, type Media, mediaType } from '../media.ts'

/** The system texts in front are the request's system prompt; later ones stay in their place as system messages. */
export function writeAnthropicMessages(turns: readonly NeutralTurn[]): WrittenHistory {
  const losses: string[] = []
  const firstOther = turns.findIndex(({ kind }) => kind !== 'system')
  const head = turns.slice(0, firstOther === -1 ? turns.length : firstOther)
  const system = head.flatMap((turn) => (turn.kind === 'system' ? [turn.text] : []))
  const messages = turns.slice(head.length).map((turn): JsonValue => {
    switch (turn.kind) {
      case 'system':
        return { role: 'system', content: turn.text }
      case 'user':
        return { role: 'user', content: writeContent(turn.parts, { of: 'a user message', losses }) }
      case 'assistant':
        return {
          role: 'assistant',
          content: [
            ...turn.parts.map((part) => writePart(part, { of: 'an assistant message', losses })),
            ...turn.calls.map(({ id, name, arguments: args }) => ({
              type: 'tool_use',
              id,
              name,
              input: JSON.parse(args) as JsonValue,
            })),
          ],
        }
      case 'results':
        return {
          role: 'user',
          content: turn.results.map(({ id, parts, isError }) => ({
            type: 'tool_result',
            tool_use_id: id,
            ...(isError ? { is_error: true } : {}),
            content: writeContent(parts, { of: 'a tool result', losses }),
          })),
        }
      default:
        return turn satisfies never
    }
  })
  return { messages, system: system.length === 0 ? null : system.join('\n\n'), losses }
}

type About = { readonly of: string; readonly losses: string[] }

function writeContent(parts: readonly NeutralPart[], about: About): JsonValue {
  const [only] = parts
  if (parts.length === 0) return ''
  return parts.length === 1 && only?.kind === 'text' ? only.text : parts.map((part) => writePart(part, about))
}

function writePart(part: NeutralPart, { of, losses }: About): JsonValue {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  const block = of === 'an assistant message' ? null : writeMedia(part.media)
  if (block !== null) return block
  losses.push(`${describeMedia(part.media)} of ${of}: this format has no place for it`)
  return { type: 'text', text: describeMedia(part.media) }
}

function writeMedia(media: Media): JsonValue | null {
  const { kind } = media
  if (kind !== 'image' && (kind !== 'file' || !isDocument(media))) return null
  const type = kind === 'image' ? 'image' : 'document'
  const { source } = media
  switch (source.kind) {
    case 'base64':
      return {
        type,
        source: { type: 'base64', media_type: mediaType(media), data: source.data },
      }
    case 'url':
      return /^https?:/.test(source.url) ? { type, source: { type: 'url', url: source.url } } : null
    case 'id':
      // Another provider's file store.
      return null
    default:
      return source satisfies never
  }
}

const PDF = 'application/pdf'

/** The Messages API reads PDF alone as base64 or url documents. */
function isDocument({ mimeType }: Media): boolean {
  return mimeType === null || mimeType === PDF
}
