/**
 * Hostile nesting: JSON.parse reads any depth, but what walks the value afterwards would overflow the stack. Pure.
 */

/** Real tool arguments stay below 20 levels. Below the 256 of the protocol's scanner, which sees more levels around them. */
export const MAX_LOG_DEPTH = 200

/** Stands where a deeper value was. */
export const TOO_DEEP = '[nested too deep]'

/** The value itself when it is shallow enough (`count` 0), else a copy in which deeper containers are replaced. */
export function pruneDeep(value: unknown): { readonly value: unknown; readonly count: number } {
  if (!isDeeper(value, MAX_LOG_DEPTH)) return { value, count: 0 }
  let count = 0
  const copy = (node: unknown, left: number): unknown => {
    if (typeof node !== 'object' || node === null) return node
    if (left === 0) {
      count += 1
      return TOO_DEEP
    }
    if (Array.isArray(node)) return node.map((child) => copy(child, left - 1))
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, copy(child, left - 1)]))
  }
  return { value: copy(value, MAX_LOG_DEPTH), count }
}

function isDeeper(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (left === 0) return true
  if (Array.isArray(value)) {
    for (const child of value) if (isDeeper(child, left - 1)) return true
    return false
  }
  for (const key in value) if (isDeeper((value as { readonly [key: string]: unknown })[key], left - 1)) return true
  return false
}
