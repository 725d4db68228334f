/**
 * Hidden states of views that were computed before, by the tokens of the whole view: when a session is scored again
 * and again, only its newest interaction and its new state are computed. Bounded in bytes; the longest unused go first.
 */
import { createHash } from 'node:crypto'

export interface VectorCache {
  /** A copy, or undefined. */
  get(key: string): Float32Array | undefined
  set(key: string, values: Float32Array): void
}

/** Map entry, key and array header, beside the values (estimate). */
const ENTRY_BYTES = 200

export function createVectorCache(maxBytes: number): VectorCache {
  const entries = new Map<string, Float32Array>()
  let sizeBytes = 0
  const costOf = (values: Float32Array): number => values.byteLength + ENTRY_BYTES
  const remove = (key: string): void => {
    const values = entries.get(key)
    if (values === undefined) return
    entries.delete(key)
    sizeBytes -= costOf(values)
  }
  return {
    get(key) {
      const values = entries.get(key)
      if (values === undefined) return undefined
      entries.delete(key)
      entries.set(key, values)
      return values.slice()
    },
    set(key, values) {
      remove(key)
      entries.set(key, values.slice())
      sizeBytes += costOf(values)
      for (const oldest of entries.keys()) {
        if (sizeBytes <= maxBytes) break
        remove(oldest)
      }
    },
  }
}

/** Key of the view that ends with these tokens behind the view `parent`; '' is the empty view. */
export function viewKey(parent: string, tokens: Int32Array): string {
  const bytes = new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength)
  return createHash('sha256').update(`${parent} ${tokens.length} `).update(bytes).digest('base64')
}
