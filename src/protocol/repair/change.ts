/**
 * What a repair did, one entry for each place. Pure types.
 */

/**
 * `dropped`: taken out. `closed`: a call got the one result that a repair may add. `moved`: a result stands directly after
 * its call now. `renamed`: a tool-call id, on both sides. `replaced`: half of a surrogate pair by U+FFFD. `unbound`: an
 * item lost its own id, with which it would ask for reasoning that is not there. `wrapped`: the same result in the form that
 * the format asks for. `merged`: a message went into the one before it, of the same turn.
 */
export const CHANGE_ACTIONS = [
  'dropped',
  'closed',
  'moved',
  'renamed',
  'replaced',
  'unbound',
  'wrapped',
  'merged',
] as const
export type ChangeAction = (typeof CHANGE_ACTIONS)[number]

export interface Change {
  /** The rule of reference/protocol.md that asked for it. */
  readonly rule: string
  /** Of the place in the history as it was given. */
  readonly pointer: string
  readonly action: ChangeAction
  /** For a person to read; quotes nothing of the history but tool-call ids. */
  readonly sentence: string
}
