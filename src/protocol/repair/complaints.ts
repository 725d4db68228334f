/**
 * The violations of a working history, asked by place: a repair touches only what breaks a rule. Pure.
 */

import type { Violation } from '../history.ts'
import { placeOf } from '../json-pointer.ts'
import { blockingViolations } from '../validate-history.ts'

export interface Complaints {
  /** All of them, advice included. */
  readonly violations: readonly Violation[]
  /** Something in this message makes the history invalid. */
  about(message: number): boolean
  /** This very place makes the history invalid. */
  at(pointer: string): boolean
  /** The rule that the place breaks, else one that its message breaks, else any: what a change of it is reported under. */
  ruleOf(pointer: string): string
}

export function readComplaints(violations: readonly Violation[]): Complaints {
  const byMessage = new Map<number, Violation[]>()
  for (const violation of violations) {
    const { index } = placeOf(violation.pointer)
    byMessage.set(index, [...(byMessage.get(index) ?? []), violation])
  }
  const blocking = blockingViolations(violations)
  const messages = new Set(blocking.map(({ pointer }) => placeOf(pointer).index))
  const pointers = new Set(blocking.map(({ pointer }) => pointer))
  return {
    violations,
    about: (message) => messages.has(message),
    at: (pointer) => pointers.has(pointer),
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
