/**
 * Histories as crashes, cuts and careless merges leave them: messages of random ones dropped, doubled, moved, and put in
 * from another history.
 */
import fc from 'fast-check'
import type { HistoryFormat } from '../../../src/protocol/history.ts'
import { anyHistory } from './arbitrary-history.ts'

export interface DamagedHistory {
  readonly format: HistoryFormat
  readonly text: string
}

interface Damage {
  readonly kind: 'drop' | 'double' | 'move' | 'insert' | 'cut-head' | 'cut-tail'
  readonly from: number
  readonly to: number
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('drop', 'drop', 'double', 'move', 'move', 'insert', 'cut-head', 'cut-tail'),
  from: fc.nat({ max: 40 }),
  to: fc.nat({ max: 40 }),
})

export const damagedHistory: fc.Arbitrary<DamagedHistory> = fc
  .tuple(anyHistory, fc.array(anyHistory, { minLength: 1, maxLength: 4 }), fc.array(damage, { maxLength: 5 }))
  .map(([{ format, messages }, others, damages]) => {
    const foreign = others.filter((other) => other.format === format).flatMap((other) => other.messages)
    const list = damages.reduce((current, one) => apply(current, one, foreign), messages)
    return { format, text: `[${list.join(',')}]` }
  })

function apply(list: readonly string[], { kind, from, to }: Damage, foreign: readonly string[]): readonly string[] {
  if (list.length === 0) return list
  const at = from % list.length
  const there = to % list.length
  const one = list[at] ?? ''
  switch (kind) {
    case 'drop':
      return list.toSpliced(at, 1)
    case 'double':
      return list.toSpliced(there, 0, one)
    case 'move':
      return list.toSpliced(at, 1).toSpliced(there, 0, one)
    case 'insert': {
      const other = foreign[to % Math.max(1, foreign.length)]
      return other === undefined ? list : list.toSpliced(at, 0, other)
    }
    case 'cut-head':
      return list.slice(at)
    case 'cut-tail':
      return list.slice(0, at)
    default:
      return kind satisfies never
  }
}
