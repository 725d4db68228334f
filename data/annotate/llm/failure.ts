/**
 * Why something an annotator model was asked became KEEP without being judged so: the closed list that reports count by.
 */
import type { ChatOutcome } from '../../../models/chat/port.ts'

export const FAILURE_MEANING = {
  // The call gave no answer that could be read.
  refusal: 'the model or its provider declined',
  'max-tokens': 'the answer was cut at its limit before this part',
  'tool-call': 'the model called a tool instead of answering',
  'no-json': 'no JSON in the answer',
  'too-long': 'the request does not fit the model, or the run cannot be clipped to fit',
  rejected: 'the server does not accept the request',
  unanswered: 'no answer after all retries',
  // The answer could be read, but not this part.
  'missing-record': 'no record for this target',
  'duplicate-record': 'records of this target contradict each other',
  'wrong-shape': 'a field is missing or of the wrong kind',
  // What it claims does not hold.
  'no-evidence': 'READY without evidence',
  'false-quote': 'a quote does not stand in the interaction it names',
  'weak-quote': 'a quote is too short to be recognised',
  'masked-quote': 'a quote stands on a masked secret',
  'misplaced-evidence': 'evidence is not between target and checkpoint, or its interaction does not exist',
  'misplaced-veto': 'a veto is before its checkpoint, or its interaction does not exist',
  inconsistent: 'the fields contradict each other',
  'boundary-not-proposed': 'the boundary is no checkpoint at which READY was proposed',
  'boundary-not-rechecked': 'the boundary was not re-checked, or not found supported',
  'boundary-vetoed': 'a veto that holds is at or after the boundary',
  'not-monotonic': 'a later checkpoint is KEEP and was not overruled',
} as const

export type FailureCode = keyof typeof FAILURE_MEANING

/** One thing that is wrong with an answer, told to the model in its repair round. */
export interface Problem {
  readonly code: FailureCode
  readonly message: string
}

export type FailureCounts = Readonly<Partial<Record<FailureCode, number>>>

export function countFailures(codes: Iterable<FailureCode>): FailureCounts {
  const counts: Partial<Record<FailureCode, number>> = {}
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** What an outcome without text is a failure of; null: there is text to read. */
export function failureOfOutcome(outcome: ChatOutcome): FailureCode | null {
  return outcome.kind === 'text' || outcome.kind === 'max-tokens' ? null : outcome.kind
}

/** Asking again with the problem named can help: the model answered, only badly. */
export function isRepairable(outcome: ChatOutcome): boolean {
  return outcome.kind === 'text' || outcome.kind === 'max-tokens' || outcome.kind === 'tool-call'
}
