/**
 * The provider-free form as AI SDK model messages. Pure.
 */
import type { NeutralPart, NeutralResult, NeutralTurn, WrittenHistory } from '../convert/neutral.ts'
import type { JsonValue } from '../history.ts'
import { describeMedia, type Media, mediaType } from '../media.ts'

/** System texts are messages in their place; the results of a batch are one tool message in the order of the calls. */
export function writeAiSdk(turns: readonly NeutralTurn[]): WrittenHistory {
  const losses: string[] = []
  const messages = turns.map((turn): JsonValue => {
    switch (turn.kind) {
      case 'system':
        return { role: 'system', content: turn.text }
      case 'user':
        return { role: 'user', content: writeContent(turn.parts, { of: 'a user message', losses }) }
      case 'assistant': {
        const about = { of: 'an assistant message', losses }
        if (turn.calls.length === 0) return { role: 'assistant', content: writeContent(turn.parts, about) }
        const calls = turn.calls.map(({ id, name, arguments: args }) => {
          const input: JsonValue = JSON.parse(args)
          return { type: 'tool-call', toolCallId: id, toolName: name, input }
        })
        return { role: 'assistant', content: [...turn.parts.map((part) => writePart(part, about)), ...calls] }
      }
      case 'results':
        return { role: 'tool', content: turn.results.map((result) => writeResult(result, losses)) }
      default:
        return turn satisfies never
    }
  })
  return { messages, system: null, losses }
}

type About = { readonly of: string; readonly losses: string[] }

function writeContent(parts: readonly NeutralPart[], about: About): JsonValue {
  const [only] = parts
  if (parts.length === 1 && only?.kind === 'text') return only.text
  return parts.map((part) => writePart(part, about))
}

function writePart(part: NeutralPart, about: About): JsonValue {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  const data = dataOf(part.media)
  if (data === null) {
    about.losses.push(noPlace(part.media, about.of))
    return { type: 'text', text: describeMedia(part.media) }
  }
  // Assistant messages take files alone; an image is a file with the media type of an image.
  return part.media.kind === 'image' && about.of === 'a user message'
    ? { type: 'image', image: data, ...(part.media.mimeType === null ? {} : { mediaType: part.media.mimeType }) }
    : { type: 'file', data, mediaType: mediaType(part.media) }
}

function writeResult({ id, name, parts, isError }: NeutralResult, losses: string[]): JsonValue {
  return { type: 'tool-result', toolCallId: id, toolName: name, output: writeOutput(parts, { isError, losses }) }
}

function writeOutput(
  parts: readonly NeutralPart[],
  { isError, losses }: { readonly isError: boolean; readonly losses: string[] },
): JsonValue {
  if (parts.every((part) => part.kind === 'text')) {
    const value = parts.map((part) => part.text).join('\n')
    return { type: isError ? 'error-text' : 'text', value }
  }
  if (isError) losses.push('the error mark of a tool result that holds media')
  const value = parts.map((part): JsonValue => {
    if (part.kind === 'text') return { type: 'text', text: part.text }
    const written = writeResultMedia(part.media)
    if (written !== null) return written
    losses.push(noPlace(part.media, 'a tool result'))
    return { type: 'text', text: describeMedia(part.media) }
  })
  return { type: 'content', value }
}

function writeResultMedia(media: Media): JsonValue | null {
  const type = media.kind === 'image' ? 'image' : 'file'
  const { source } = media
  if (source.kind === 'id') return null
  return source.kind === 'url'
    ? { type: `${type}-url`, url: source.url }
    : { type: `${type}-data`, data: source.data, mediaType: mediaType(media) }
}

/** Base64 or an address, by which the SDK tells them apart; null for a provider's own file id. */
function dataOf({ source }: Media): string | null {
  switch (source.kind) {
    case 'base64':
      return source.data
    case 'url':
      return source.url
    case 'id':
      return null
    default:
      return source satisfies never
  }
}

function noPlace(media: Media, of: string): string {
  return `${describeMedia(media)} of ${of}: it is in another provider's file store`
}
