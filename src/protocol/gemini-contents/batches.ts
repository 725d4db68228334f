/**
 * Function-call turns of a Gemini history with what answers them, for the pairing rules. Pure.
 */
import { type OpenCall, pairResult } from '../open-calls.ts'
import type { RuleInput } from '../rules/rule.ts'
import type { CallSegment, ResultSegment } from '../segment.ts'

export interface PairedResult {
  readonly result: ResultSegment
  /** Index of the content that holds it. */
  readonly content: number
  /** Position of its call in `calls`; null when it answers none of them. */
  readonly answers: number | null
}

/** A run of neighbouring model contents with calls, and the contents with responses directly after it. */
export interface Batch {
  readonly calls: readonly CallSegment[]
  readonly results: readonly PairedResult[]
  /** Calls without a response. */
  readonly unanswered: readonly CallSegment[]
}

/** In order; responses that follow no call make a batch without calls. */
export function findBatches({ history, segments }: RuleInput): readonly Batch[] {
  const batches: Batch[] = []
  let calls: CallSegment[] = []
  let found: { readonly result: ResultSegment; readonly content: number }[] = []
  const close = (): void => {
    if (calls.length > 0 || found.length > 0) batches.push(pairBatch(calls, found))
    calls = []
    found = []
  }
  history.messages.forEach(({ role }, content) => {
    const row = segments[content] ?? []
    const results = row.filter((segment) => segment.kind === 'result')
    if (role === 'assistant') {
      if (history.messages[content - 1]?.role !== 'assistant') close()
      calls.push(...row.filter((segment) => segment.kind === 'call'))
    } else if (results.length > 0) found.push(...results.map((result) => ({ result, content })))
    else close()
  })
  close()
  return batches
}

function pairBatch(
  calls: readonly CallSegment[],
  found: readonly { readonly result: ResultSegment; readonly content: number }[],
): Batch {
  const open = calls.map((call): OpenCall => ({ owner: 0, call, answered: false }))
  const results = found.map(({ result, content }): PairedResult => {
    const pairing = pairResult(open, result)
    return { result, content, answers: pairing.kind === 'answers' ? open.indexOf(pairing.call) : null }
  })
  return { calls, results, unanswered: open.filter(({ answered }) => !answered).map(({ call }) => call) }
}
