/**
 * Finds the JSON value in what a model wrote: alone, in a code fence, behind its thoughts, between sentences, or cut off in
 * the middle. Pure.
 */

export type FoundJson =
  | { readonly kind: 'value'; readonly value: unknown }
  /** Cut off: the objects of its first list that are whole. */
  | { readonly kind: 'partial'; readonly items: readonly unknown[] }
  | { readonly kind: 'none' }

/** Starts looked at; text in front of an answer seldom holds a brace. Assumption. */
const MAX_STARTS = 20

export function findJson(text: string): FoundJson {
  const answer = withoutThoughts(text).trim()
  const whole = parse(answer)
  if (looksLikeAnswer(whole)) return { kind: 'value', value: whole }
  let from = 0
  for (let tries = 0; tries < MAX_STARTS; tries++) {
    const start = nextStart(answer, from)
    if (start === -1) break
    const end = valueEnd(answer, start)
    if (end === -1) return partial(answer.slice(start))
    const value = parse(answer.slice(start, end))
    if (looksLikeAnswer(value)) return { kind: 'value', value }
    from = start + 1
  }
  return { kind: 'none' }
}

/** Reasoning models served without a parser put their thoughts first. */
function withoutThoughts(text: string): string {
  const end = text.lastIndexOf('</think>')
  return end === -1 ? text : text.slice(end + '</think>'.length)
}

/** The whole objects of the outermost list, e.g. of `{"records": [{...}, {...}, {"inter`. */
function partial(text: string): FoundJson {
  const items: unknown[] = []
  let at = text.indexOf('[') + 1
  if (at === 0) return { kind: 'none' }
  for (;;) {
    const start = text.indexOf('{', at)
    const end = start === -1 ? -1 : valueEnd(text, start)
    const value = end === -1 ? undefined : parse(text.slice(start, end))
    if (value === undefined) break
    items.push(value)
    at = end
  }
  return items.length === 0 ? { kind: 'none' } : { kind: 'partial', items }
}

function nextStart(text: string, from: number): number {
  const found = text.slice(from).search(/[[{]/)
  return found === -1 ? -1 : from + found
}

/** One past the bracket that closes the one at `start`; -1 if the text ends before. Strings are honoured. */
function valueEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      at += 1
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    } else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}

/** undefined: no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

/** An object, or a list of objects: `[1]` in a sentence is a reference. */
function looksLikeAnswer(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === 'object' && item !== null)
  return typeof value === 'object' && value !== null
}
