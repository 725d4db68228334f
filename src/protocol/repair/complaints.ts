/**
 * The violations of a working history, asked by place: a repair touches only what breaks a rule. Pure.
 */
import type { Violation } from '../history.ts'
import { placeOf } from './working-list.ts'

export interface Complaints {
  readonly violations: readonly Violation[]
  /** Something in this message breaks a rule. */
  about(message: number): boolean
  /** The rule that the place breaks, else one that its message breaks, else any: what a change of it is reported under. */
  ruleOf(pointer: string): string
}

export function readComplaints(violations: readonly Violation[]): Complaints {
  const byMessage = new Map<number, Violation[]>()
  for (const violation of violations) {
    const { index } = placeOf(violation.pointer)
    byMessage.set(index, [...(byMessage.get(index) ?? []), violation])
  }
  return {
    violations,
    about: (message) => byMessage.has(message),
    ruleOf(pointer) {
      const near = byMessage.get(placeOf(pointer).index) ?? []
      const exact = near.find(
        (violation) => isInside(violation.pointer, pointer) || isInside(pointer, violation.pointer),
      )
      return (exact ?? near[0] ?? violations[0])?.rule ?? ''
    },
  }
}

function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`)
}
