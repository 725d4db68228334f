/**
 * One hash for any plain value: records, lists, sets, typed arrays, primitives. Pure. Keys of records and members of
 * sets count in sorted order; what is undefined counts as absent.
 */
import { createHash, type Hash } from 'node:crypto'
import { AppError } from '../../src/errors.ts'

/** @returns SHA-256, 64 hex digits */
export function hashValue(value: unknown): string {
  const hash = createHash('sha256')
  feed(hash, value)
  return hash.digest('hex')
}

/** Every value is framed by its kind and length, so that no two values feed the same bytes. */
function feed(hash: Hash, value: unknown): void {
  if (ArrayBuffer.isView(value)) {
    hash.update(`${value.constructor.name} ${value.byteLength}:`)
    hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  } else if (Array.isArray(value)) {
    hash.update(`list ${value.length}:`)
    for (const item of value) feed(hash, item)
  } else if (value instanceof Set) {
    const members = [...value].map(String).sort()
    hash.update('set ')
    feed(hash, members)
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    hash.update(`record ${entries.length}:`)
    for (const [key, item] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
      feed(hash, key)
      feed(hash, item)
    }
  } else if (typeof value === 'string') hash.update(`string ${value.length}:${value}`)
  else if (typeof value === 'number' || typeof value === 'boolean' || value === null)
    hash.update(`${typeof value} ${Object.is(value, -0) ? '-0' : String(value)};`)
  else throw new AppError('invariant', `a ${typeof value} has no hash`)
}
