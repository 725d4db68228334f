/**
 * What a message holds, the same for every provider format: the layer between raw JSON and interactions. Pure.
 * Each format's folder has one file that reads a message into segments (openai-chat/segments.ts and so on).
 */
import { AppError } from '../errors.ts'
import type { JsonValue } from './history.ts'
import { type JsonPath, jsonPointer } from './json-pointer.ts'
import type { Media } from './media.ts'

interface Place {
  /** Index in the content list; null for string content and for fields beside `content`. */
  readonly block: number | null
  /** JSON pointer into the request. */
  readonly pointer: string
}

export interface TextSegment extends Place {
  readonly kind: 'text'
  readonly text: string
}

/** Thinking, reasoning_content and the like; "" where it is encrypted. */
export interface ReasoningSegment extends Place {
  readonly kind: 'reasoning'
  readonly text: string
}

export interface CallSegment extends Place {
  readonly kind: 'call'
  readonly id: string | null
  readonly name: string
  /** JSON text without white space between tokens where the provider has a JSON value, else its own string. */
  readonly arguments: string
}

export interface ResultSegment extends Place {
  readonly kind: 'result'
  readonly id: string | null
  readonly name: string | null
  readonly content: string
  readonly isError: boolean
  /** Images and other media inside the result. */
  readonly media: readonly Media[]
}

/** What text cannot stand for: media, server-side tools, encrypted state. */
export interface OpaqueSegment extends Place {
  readonly kind: 'opaque'
  readonly type: string
  /** What a reader of the text sees: the block's own text if it has one, else a bracketed description. */
  readonly text: string
  /** Set for an image, audio or a file whose place is known; null for everything else. */
  readonly media: Media | null
}

export type Segment = TextSegment | ReasoningSegment | CallSegment | ResultSegment | OpaqueSegment

/** The short bracketed description that stands for an opaque block in text. */
export function describeOpaque(type: string): string {
  return `[${type.replace(/_url$/, '').replaceAll('_', ' ')}]`
}

export function malformed(path: JsonPath, expected: string): AppError {
  const pointer = jsonPointer(path)
  return new AppError('history-malformed', `${pointer}: expected ${expected}`, { details: { pointer } })
}

export type JsonObject = { readonly [key: string]: JsonValue }

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
