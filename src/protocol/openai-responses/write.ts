/**
 * The provider-free form as OpenAI Responses items. Pure.
 */
import type { NeutralPart, NeutralResult, NeutralTurn, WrittenHistory } from '../convert/neutral.ts'
import type { JsonValue } from '../history.ts'
import { describeMedia, type Media, mediaType, mediaUrl } from '../media.ts'

/**
 * The system texts in front are the request's instructions; later ones stay in their place as system messages. No item has
 * an id: an id makes the API look for the reasoning that led to it (R3).
 */
export function writeOpenAiResponses(turns: readonly NeutralTurn[]): WrittenHistory {
  const losses: string[] = []
  const firstOther = turns.findIndex(({ kind }) => kind !== 'system')
  const head = turns.slice(0, firstOther === -1 ? turns.length : firstOther)
  const system = head.flatMap((turn) => (turn.kind === 'system' ? [turn.text] : []))
  const messages = turns.slice(head.length).flatMap((turn): readonly JsonValue[] => {
    switch (turn.kind) {
      case 'system':
        return [message('system', turn.text)]
      case 'user':
        return [message('user', writeContent(turn.parts, { of: 'a user message', losses }))]
      case 'assistant':
        return [
          ...(turn.parts.length === 0
            ? []
            : [
                message(
                  'assistant',
                  turn.parts.map((part) => ({ type: 'output_text', text: spoken(part, losses) })),
                ),
              ]),
          ...turn.calls.map(({ id, name, arguments: args }) => ({
            type: 'function_call',
            call_id: id,
            name,
            arguments: args,
          })),
        ]
      case 'results':
        return turn.results.map((result) => writeResult(result, losses))
      default:
        return turn satisfies never
    }
  })
  return { messages, system: system.length === 0 ? null : system.join('\n\n'), losses }
}

function message(role: 'system' | 'user' | 'assistant', content: JsonValue): JsonValue {
  return { type: 'message', role, content }
}

function writeResult({ id, parts, isError }: NeutralResult, losses: string[]): JsonValue {
  if (isError) losses.push('the error mark of a tool result: outputs have none')
  const output = parts.length === 0 ? '' : writeContent(parts, { of: 'a tool result', losses })
  return { type: 'function_call_output', call_id: id, output }
}

type About = { readonly of: string; readonly losses: string[] }

function writeContent(parts: readonly NeutralPart[], about: About): JsonValue {
  const [only] = parts
  return parts.length === 1 && only?.kind === 'text' ? only.text : parts.map((part) => writePart(part, about))
}

function writePart(part: NeutralPart, { of, losses }: About): JsonValue {
  if (part.kind === 'text') return { type: 'input_text', text: part.text }
  const written = writeMedia(part.media)
  if (written !== null) return written
  losses.push(`${describeMedia(part.media)} of ${of}: this format has no place for it`)
  return { type: 'input_text', text: describeMedia(part.media) }
}

/** What the model said is text alone: media stand in it as their bracketed kind. */
function spoken(part: NeutralPart, losses: string[]): string {
  if (part.kind === 'text') return part.text
  losses.push(`${describeMedia(part.media)} of an assistant message: this format takes text alone there`)
  return describeMedia(part.media)
}

function writeMedia(media: Media): JsonValue | null {
  const { kind, source, detail } = media
  if (kind !== 'image' && kind !== 'file') return null
  const type = kind === 'image' ? 'input_image' : 'input_file'
  const more = kind === 'image' && detail !== undefined ? { detail } : {}
  if (source.kind === 'id') return isOwnFile(source.id) ? { type, file_id: source.id, ...more } : null
  const url = mediaUrl(media) ?? ''
  if (kind === 'image') return { type, image_url: url, ...more }
  return source.kind === 'url' ? { type, file_url: url } : { type, filename: fileName(media), file_data: url }
}

/** Ids of OpenAI's file store; another provider's mean nothing there. */
function isOwnFile(id: string): boolean {
  return id.startsWith('file-')
}

/** The API wants one beside the data and goes by its ending. */
function fileName(media: Media): string {
  const subtype = mediaType(media).split('/')[1] ?? ''
  return `file.${subtype === 'plain' ? 'txt' : subtype}`
}
