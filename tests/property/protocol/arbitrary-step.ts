/**
 * One step of a run, for formats whose messages have a role and a content: parallel calls, reused ids, missing and second
 * results, user turns anywhere, empty contents.
 */
import fc from 'fast-check'
import { rarely, word } from './given-history.ts'

export interface Step {
  readonly kind: 'act' | 'user' | 'system' | 'say'
  readonly calls: number
  /** Which results come back: one bit per call. */
  readonly answered: number
  /** Results come in reverse, or one comes twice. */
  readonly shuffle: boolean
  readonly twice: boolean
  /** Human text in the same message as the results (Anthropic), or between call and result (OpenAI). */
  readonly mixed: boolean
  readonly thinking: boolean
  readonly word: string
  readonly long: boolean
  readonly reuse: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('act', 'act', 'act', 'act', 'user', 'say', 'system'),
  calls: fc.integer({ min: 1, max: 3 }),
  answered: fc.oneof(
    { weight: 6, arbitrary: fc.constant(7) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 7 }) },
  ),
  shuffle: fc.boolean(),
  twice: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, fc.boolean()),
  mixed: rarely,
  thinking: fc.boolean(),
  word,
  long: fc.boolean(),
  reuse: fc.boolean(),
})

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(step, { maxLength: 14 })

/** The same step with every result, once, and with words where a message needs some. */
export function completed(one: Step): Step {
  return { ...one, answered: 7, twice: false, word: one.kind === 'act' || one.word !== '' ? one.word : 'w' }
}

export function idsOf(one: Step, number: number): readonly string[] {
  return Array.from({ length: one.calls }, (_, call) => (one.reuse ? `id${call}` : `id${number}_${call}`))
}

export function resultsOf(one: Step, ids: readonly string[]): readonly string[] {
  const answered = ids.filter((_, call) => (one.answered >> call) % 2 === 1)
  const ordered = one.shuffle ? [...answered].reverse() : answered
  return one.twice ? [...ordered, ...ordered.slice(0, 1)] : ordered
}

/** Numbers, key order and white space that JSON.parse and JSON.stringify would not give back. */
export function oddMessage(role: string, content: string, more = ''): string {
  return `{"role":"${role}", "content":${content}${more},"10":1.0,"9":12345678901234567890}`
}
