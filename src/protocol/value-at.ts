/** The value at a path inside a JSON value. Pure. */
import type { JsonValue } from './history.ts'
import type { JsonPath } from './json-pointer.ts'
import { isObject } from './segment.ts'

export function valueAt(value: JsonValue, path: JsonPath): JsonValue | undefined {
  let found: JsonValue | undefined = value
  for (const step of path) {
    if (Array.isArray(found)) found = (found as readonly JsonValue[])[Number(step)]
    else found = isObject(found) ? found[step] : undefined
  }
  return found
}
