/**
 * JSON pointers (RFC 6901) for errors and violations. Pure.
 */

/** `['messages', 4, 'a/b']` -> `/messages/4/a~1b`; the empty path is the whole document, "". */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
