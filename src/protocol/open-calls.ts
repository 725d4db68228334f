/**
 * Pairs tool results with calls. Ids are reused inside real trajectories, so there is no map of ids: a result belongs to
 * the nearest preceding unanswered call of its id inside the current batch (reference/formats.md, rule 1). Pure.
 */
import type { CallSegment, ResultSegment } from './segment.ts'

export interface OpenCall {
  /** Which interaction made the call; the caller's own number. */
  readonly owner: number
  readonly call: CallSegment
  answered: boolean
}

export type Pairing = { readonly kind: 'answers' | 'duplicates'; readonly call: OpenCall } | { readonly kind: 'orphan' }

/** The nearest message's calls first, and inside one message in order. */
function nearestFirst(batch: readonly OpenCall[]): readonly OpenCall[] {
  const owners = [...new Set(batch.map((open) => open.owner))].reverse()
  return owners.flatMap((owner) => batch.filter((open) => open.owner === owner))
}

/**
 * Finds the call that `result` answers and marks it answered. A result without id answers by name, then by position.
 * @param batch calls of the newest run of assistant messages; `answered` is updated in place by this function alone
 */
export function pairResult(batch: readonly OpenCall[], result: ResultSegment): Pairing {
  const candidates = nearestFirst(batch).filter((open) => result.id === null || open.call.id === result.id)
  const open = candidates.filter((candidate) => !candidate.answered)
  const call = result.id === null ? (open.find((candidate) => candidate.call.name === result.name) ?? open[0]) : open[0]
  if (call !== undefined) {
    call.answered = true
    return { kind: 'answers', call }
  }
  const [answered] = candidates
  return answered === undefined || result.id === null ? { kind: 'orphan' } : { kind: 'duplicates', call: answered }
}
