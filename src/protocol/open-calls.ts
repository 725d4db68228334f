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
 * Finds the call that `result` answers and marks it answered: by id where both have one, else by name and order. Without a
 * name, or with one that no open call has, position tells only what is certain (reference/formats.md, rule 2).
 * @param batch calls of the newest run of assistant messages; `answered` is updated in place by this function alone
 */
export function pairResult(batch: readonly OpenCall[], result: ResultSegment): Pairing {
  const nearest = nearestFirst(batch)
  const ofId = result.id === null ? [] : nearest.filter(({ call }) => call.id === result.id)
  const call = ofId.length > 0 ? ofId.find(({ answered }) => !answered) : findByName(nearest, result)
  if (call !== undefined) {
    call.answered = true
    return { kind: 'answers', call }
  }
  const [answered] = ofId
  return answered === undefined ? { kind: 'orphan' } : { kind: 'duplicates', call: answered }
}

/** Clients make up ids for calls that came without one (Gemini CLI), so a result with an id may answer such a call. */
function findByName(nearest: readonly OpenCall[], { id, name }: ResultSegment): OpenCall | undefined {
  const open = nearest.filter(({ answered, call }) => !answered && (id === null || call.id === null))
  const isCertain = open.length === 1 || (id === null && name === null)
  return open.find(({ call }) => call.name === name) ?? (isCertain ? open[0] : undefined)
}
