/**
 * Which tool result answers which call of an AI SDK history, wherever it stands: the rules say afterwards whether it stands
 * rightly. Pure.
 */
import type { RuleInput } from '../rules/rule.ts'
import type { CallSegment, ResultSegment } from '../segment.ts'

interface PlacedCall {
  readonly call: CallSegment
  /** Index of its message. */
  readonly message: number
}

export interface AnsweredCall extends PlacedCall {
  readonly result: ResultSegment
  readonly answeredIn: number
}

export interface Matches {
  readonly answered: readonly AnsweredCall[]
  readonly unanswered: readonly PlacedCall[]
  /** A result whose id no call before it has. */
  readonly orphans: readonly ResultSegment[]
  /** A result whose calls all have one already. */
  readonly duplicates: readonly ResultSegment[]
}

/** A result belongs to the nearest preceding unanswered call of its id; one without id to no call at all (V7). */
export function matchResults({ segments }: RuleInput): Matches {
  const open: PlacedCall[] = []
  const answered: AnsweredCall[] = []
  const orphans: ResultSegment[] = []
  const duplicates: ResultSegment[] = []
  segments.forEach((row, message) => {
    open.push(...row.filter((segment) => segment.kind === 'call').map((call) => ({ call, message })))
    for (const result of row) {
      if (result.kind !== 'result' || result.id === null) continue
      const at = open.findLastIndex(({ call }) => call.id === result.id)
      const found = open[at]
      if (found !== undefined) {
        open.splice(at, 1)
        answered.push({ ...found, result, answeredIn: message })
      } else if (answered.some(({ call }) => call.id === result.id)) duplicates.push(result)
      else orphans.push(result)
    }
  })
  return { answered, unanswered: open, orphans, duplicates }
}
