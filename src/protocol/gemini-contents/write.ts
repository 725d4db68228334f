/**
 * The provider-free form as Gemini contents. Pure.
 */
import type { NeutralCall, NeutralPart, NeutralResult, NeutralTurn, WrittenHistory } from '../convert/neutral.ts'
import type { JsonValue } from '../history.ts'
import { describeMedia, type Media, mediaType } from '../media.ts'

/**
 * What the documentation gives for calls that Gemini has not made itself (G5): Gemini 3 refuses a step of the current turn
 * whose first call has no signature, earlier models do not look at it. Every step has it, since which turn is the current
 * one changes, and what has been sent must not.
 */
export const PLACEHOLDER_SIGNATURE = 'skip_thought_signature_validator'

/**
 * System texts in front are the system instruction; a later one is a user content in its place, since contents know no
 * system role. Neighbouring assistant turns are one model content (G1), the results of a batch one user content in the
 * order of the calls (G3).
 */
export function writeGeminiContents(turns: readonly NeutralTurn[]): WrittenHistory {
  const losses: string[] = []
  const system: JsonValue[] = []
  const messages: JsonValue[] = []
  let model: { readonly parts: JsonValue[]; hasCall: boolean } | null = null
  const add = (role: 'user' | 'model', parts: readonly JsonValue[]): void => {
    if (parts.length > 0) messages.push({ role, parts })
  }
  for (const turn of turns) {
    if (turn.kind === 'assistant') {
      if (model === null) {
        model = { parts: [], hasCall: false }
        messages.push({ role: 'model', parts: model.parts })
      }
      model.parts.push(...turn.parts.map((part) => writePart(part, { of: 'an assistant message', losses })))
      for (const call of turn.calls) {
        model.parts.push(writeCall(call, { isFirst: !model.hasCall }))
        model.hasCall = true
      }
      continue
    }
    model = null
    if (turn.kind === 'system') {
      if (messages.length === 0) system.push({ text: turn.text })
      else {
        losses.push('a system message after the start: it stands as a user content')
        add('user', [{ text: turn.text }])
      }
    } else if (turn.kind === 'user')
      add(
        'user',
        turn.parts.map((part) => writePart(part, { of: 'a user message', losses })),
      )
    else
      add(
        'user',
        turn.results.map((result) => writeResult(result, losses)),
      )
  }
  return { messages, system: system.length === 0 ? null : { parts: system }, losses }
}

function writeCall(call: NeutralCall, { isFirst }: { readonly isFirst: boolean }): JsonValue {
  const args: JsonValue = JSON.parse(call.arguments)
  const functionCall = { id: call.id, name: call.name, args }
  return isFirst ? { functionCall, thoughtSignature: PLACEHOLDER_SIGNATURE } : { functionCall }
}

/** Media of a result stand beside its response, as Gemini 3 takes them. */
function writeResult({ id, name, parts, isError }: NeutralResult, losses: string[]): JsonValue {
  const texts: string[] = []
  const media: JsonValue[] = []
  for (const part of parts) {
    const written = part.kind === 'media' ? writeMedia(part.media) : null
    if (written !== null) media.push(written)
    else {
      if (part.kind === 'media') losses.push(noPlace(part.media, 'a function response'))
      texts.push(part.kind === 'media' ? describeMedia(part.media) : part.text)
    }
  }
  if (media.length > 0) losses.push('media inside a function response: models before Gemini 3 do not take them')
  const text = texts.join('\n')
  const response = isError ? { error: text } : { output: text }
  return { functionResponse: { id, name, response, ...(media.length === 0 ? {} : { parts: media }) } }
}

function writePart(part: NeutralPart, { of, losses }: { readonly of: string; readonly losses: string[] }): JsonValue {
  if (part.kind === 'text') return { text: part.text }
  const written = writeMedia(part.media)
  if (written !== null) return written
  losses.push(noPlace(part.media, of))
  return { text: describeMedia(part.media) }
}

function noPlace(media: Media, of: string): string {
  return `${describeMedia(media)} of ${of}: it is in another provider's file store`
}

function writeMedia(media: Media): JsonValue | null {
  const { source } = media
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: mediaType(media), data: source.data } }
    case 'url':
      return { fileData: { mimeType: mediaType(media), fileUri: source.url } }
    case 'id':
      return null
    default:
      return source satisfies never
  }
}
