/**
 * Interactions through a repair: what a caller said about the history that it gave must not hit another one. Pure.
 */
import type { Pins, SplitHistory } from '../history.ts'
import type { Repair } from './repair-history.ts'

/** From the index of an interaction in the given history to its index in the repaired one; dropped ones are absent. */
export function followInteractions(
  given: SplitHistory,
  repaired: SplitHistory,
  { origins }: Pick<Repair, 'origins'>,
): ReadonlyMap<number, number> {
  const before = new Map(
    given.interactions.flatMap(({ index, parts }) => parts.map(({ message }) => [message, index] as const)),
  )
  const moved = new Map<number, number>()
  for (const { index, parts } of repaired.interactions) {
    // The call comes first: a message of results may have come from somewhere else.
    const from = parts.map(({ message }) => before.get(origins[message] ?? -1)).find((found) => found !== undefined)
    if (from !== undefined && !moved.has(from)) moved.set(from, index)
  }
  return moved
}

/** The same pins for the repaired history, whose tool-call ids may be new. */
export function followPins(
  pins: Pins,
  about: {
    readonly given: SplitHistory
    readonly repaired: SplitHistory
    readonly moved: ReadonlyMap<number, number>
  },
): Pins {
  if (pins.callIds.length === 0) return pins
  const pinned = new Set(
    about.given.trajectory.interactions
      .filter(({ toolCalls }) => toolCalls.some(({ id }) => id !== null && pins.callIds.includes(id)))
      .map(({ index }) => about.moved.get(index)),
  )
  const renamed = about.repaired.trajectory.interactions
    .filter(({ index }) => pinned.has(index))
    .flatMap(({ toolCalls }) => toolCalls.flatMap(({ id }) => (id === null ? [] : [id])))
  return { ...pins, callIds: [...new Set([...pins.callIds, ...renamed])] }
}
