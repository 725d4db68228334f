/**
 * Edits of raw JSON text at a path, by offsets: every byte outside the edited place stays. Pure.
 */
import { invariant } from '../errors.ts'
import type { JsonPath } from './json-pointer.ts'
import { type JsonNode, scanJson } from './scan-json.ts'

/** The text of the value at `path`, or null where there is none. */
export function sliceAt(raw: string, path: JsonPath): string | null {
  const node = nodeAt(raw, path)
  return node === null ? null : raw.slice(node.start, node.end)
}

/** `raw` with `text` in the place of the value at `path`, which must exist. */
export function replaceAt(raw: string, path: JsonPath, text: string): string {
  const node = invariant(nodeAt(raw, path), 'the replaced JSON value exists')
  return raw.slice(0, node.start) + text + raw.slice(node.end)
}

/** `raw` with these elements as the list at `path`, which must exist; it may hold something else so far. */
export function replaceElements(raw: string, path: JsonPath, elements: readonly string[]): string {
  return replaceAt(raw, path, `[${elements.join(',')}]`)
}

/** `raw` with another key for the member at `path`, which must exist. */
export function renameKey(raw: string, path: JsonPath, key: string): string {
  const { start } = invariant(nodeAt(raw, path), 'the renamed JSON member exists')
  const from = keyStart(raw, start)
  return raw.slice(0, from) + JSON.stringify(key) + raw.slice(raw.lastIndexOf(':', start - 1))
}

/** `raw` without the member or element at `path`; a repeated key goes with all its values. Unchanged where there is none. */
export function removeAt(raw: string, path: JsonPath): string {
  const step = path.at(-1)
  let text = raw
  for (let node = nodeAt(text, path); node !== null && step !== undefined; ) {
    const start = typeof step === 'string' ? keyStart(text, node.start) : node.start
    text = cutWithComma(text, start, node.end)
    node = typeof step === 'string' ? nodeAt(text, path) : null
  }
  return text
}

function nodeAt(raw: string, path: JsonPath): JsonNode | null {
  let node: JsonNode | undefined = scanJson(raw, { keepDepth: path.length })
  for (const step of path) {
    node = typeof step === 'number' ? node.elements[step] : node.members.get(step)
    if (node === undefined) return null
  }
  return node
}

/** Offset of the opening quote of the key whose value starts at `valueStart`: inside a key every quote is escaped. */
function keyStart(text: string, valueStart: number): number {
  let at = text.lastIndexOf('"', text.lastIndexOf(':', valueStart))
  do at = text.lastIndexOf('"', at - 1)
  while (isEscaped(text, at))
  return at
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

/** Without [start, end), the white space around it, and the comma that separated it from its neighbour. */
function cutWithComma(text: string, start: number, end: number): string {
  const after = /\s*/y
  after.lastIndex = end
  after.exec(text)
  if (text[after.lastIndex] === ',') {
    after.lastIndex++
    after.exec(text)
    return text.slice(0, start) + text.slice(after.lastIndex)
  }
  const before = text.slice(0, start).trimEnd()
  return (before.endsWith(',') ? before.slice(0, -1) : before) + text.slice(end)
}
