/**
 * How inspect_ai logs say a long thing once: texts as attachments under their hash, and the input of a model call as
 * half-open ranges of a message pool. Pure.
 */
import { arrayOf, isObject, type JsonObject, objectOf } from './json-value.ts'

const SCHEME = 'attachment://'

/** The value with every attachment reference replaced; what does not change is not copied. */
export function resolveAttachments(value: unknown, attachments: JsonObject, missing: (hash: string) => void): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(SCHEME)) return value
    const hash = value.slice(SCHEME.length)
    const text = Object.hasOwn(attachments, hash) ? attachments[hash] : undefined
    if (typeof text === 'string') return text
    missing(hash)
    return value
  }
  if (Array.isArray(value)) {
    const copy = value.map((child) => resolveAttachments(child, attachments, missing))
    return copy.every((child, index) => child === value[index]) ? value : copy
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(
    ([key, child]) => [key, resolveAttachments(child, attachments, missing)] as const,
  )
  return entries.every(([key, child]) => child === value[key]) ? value : Object.fromEntries(entries)
}

/** Messages that a model event was given. */
export function inputOf(event: JsonObject, sample: JsonObject): readonly unknown[] {
  const input = arrayOf(event.input)
  if (input.length > 0 || !Array.isArray(event.input_refs)) return input
  const pool = arrayOf(sample.message_pool ?? objectOf(sample.events_data).messages)
  return event.input_refs.flatMap((range: unknown) => {
    const [start, end] = Array.isArray(range) ? range : []
    return Number.isInteger(start) && Number.isInteger(end) ? pool.slice(Math.max(start, 0), Math.max(end, 0)) : []
  })
}

/** Its answer: none for a call that failed. */
export function outputOf(event: JsonObject): readonly unknown[] {
  const message = objectOf(arrayOf(objectOf(event.output).choices)[0]).message
  return isObject(message) ? [message] : []
}
