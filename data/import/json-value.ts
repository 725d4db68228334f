/**
 * Narrowing of parsed JSON: the only way importers look into a record of unknown shape. Pure.
 */

export type JsonObject = { readonly [key: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as an object, or an empty one: for optional nested records. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A non-empty string, else null. */
export function idOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A value as text: a string as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
