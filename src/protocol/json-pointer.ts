/**
 * JSON pointers (RFC 6901) for errors and violations. Pure.
 */

/** Steps from the root of a request: member names and element numbers. */
export type JsonPath = readonly (string | number)[]

/** `['messages', 4, 'a/b']` -> `/messages/4/a~1b`; the empty path is the whole document, "". */
export function jsonPointer(path: JsonPath): string {
  let pointer = ''
  for (const step of path)
    pointer +=
      typeof step === 'number' || !/[~/]/.test(step)
        ? `/${step}`
        : `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return pointer
}

/** The reverse; digits are taken for element numbers. */
export function pointerSteps(pointer: string): JsonPath {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')))
}

/** Of a pointer into the message list of a request: the message's index, and the steps inside the message. */
export function placeOf(pointer: string): { readonly index: number; readonly path: JsonPath } {
  const [, index, ...path] = pointerSteps(pointer)
  return { index: Number(index), path }
}
