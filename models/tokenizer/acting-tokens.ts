/**
 * Counts tokens the way the acting model would: with its own encoding where one exists offline (OpenAI's o200k and
 * cl100k), else with o200k, and then the number is an estimate and says so.
 */
import { createRequire } from 'node:module'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'

type Count = typeof countO200k

export interface ActingEncoding {
  readonly name: 'o200k' | 'cl100k'
  /** The acting model is unknown, or its encoding is not public. */
  readonly isEstimate: boolean
}

export interface ActingTokenizer {
  readonly encoding: ActingEncoding
  /** Tokens of `text`; 0 for "". */
  readonly countTokens: (text: string) => number
}

/** A provider or deployment prefix, e.g. openai/ or azure/. */
const PREFIX = /^(?:[\w.-]+\/)*/
const CL100K_MODELS = /^(?:gpt-4(?:-|$)(?!o)|gpt-3\.5|gpt-35|text-embedding-(?:ada|3))/
const O200K_MODELS = /^(?:gpt-4o|chatgpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|o[134](?:-|$)|codex)/

/** @param model the request's `model`; null when it names none */
export function actingTokenizer(model: string | null): ActingTokenizer {
  const name = (model ?? '').toLowerCase().replace(PREFIX, '')
  if (CL100K_MODELS.test(name)) return { encoding: { name: 'cl100k', isEstimate: false }, countTokens: countCl100kText }
  return { encoding: { name: 'o200k', isEstimate: !O200K_MODELS.test(name) }, countTokens: countActingTokens }
}

/** Tokens of `text` by o200k. */
export function countActingTokens(text: string): number {
  return countSliced(text, countO200k)
}

const require = createRequire(import.meta.url)

/** Its 100,000 merges are loaded when the first model needs them. */
function countCl100kText(text: string): number {
  const { countTokens }: { countTokens: Count } = require('gpt-tokenizer/encoding/cl100k_base')
  return countSliced(text, countTokens)
}

/**
 * The library's merge loop is quadratic in one unbroken run of letters or of blanks (measured: 37 s for 200,000 times
 * "a"), so longer runs are counted in slices; each cut adds at most one token to the estimate.
 */
const LONGEST_RUN = 512
const LONG_RUNS = new RegExp(`\\S{${LONGEST_RUN + 1},}|\\s{${LONGEST_RUN + 1},}`, 'g')
/** Text from a history is text: a literal special token in it is counted as its letters. */
const PLAIN_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

function countSliced(text: string, count: Count): number {
  let total = 0
  let from = 0
  for (const match of text.matchAll(LONG_RUNS)) {
    total += count(text.slice(from, match.index), PLAIN_TEXT)
    from = match.index + match[0].length
    for (let at = match.index; at < from; at += LONGEST_RUN) {
      total += count(text.slice(at, Math.min(at + LONGEST_RUN, from)), PLAIN_TEXT)
    }
  }
  return total + count(text.slice(from), PLAIN_TEXT)
}
