/**
 * Collects model calls, their results and the turns between them into interactions: the pairing rule that all importers
 * of session logs share (formats.md rules 1 and 2). Owned by one importer call, never shared.
 */
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import type { Interaction, Observation, SourceRef, ToolCall, Turn } from '../../src/trajectory/trajectory.ts'

export interface ModelCall {
  readonly actor?: string | null
  readonly reasoning: string
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly source: SourceRef
}

export interface ToolResult {
  /** Provider's id; null where the format has none or it was redacted: then paired by name and order. */
  readonly callId: string | null
  readonly name: string | null
  readonly content: string
  readonly isError: boolean
}

export type Pairing = 'paired' | 'duplicate' | 'orphan'

export interface RunBuilder {
  /** Returns the interaction's index. */
  call(call: ModelCall): number
  /** More blocks of a call that is spread over several records. */
  extend(
    index: number,
    more: { readonly reasoning: string; readonly text: string; readonly toolCalls: readonly ToolCall[] },
  ): void
  /**
   * Gives a result to the nearest unanswered call of its id inside the current batch: the newest interaction with calls,
   * or interaction `of` where the log links them. Formats without ids and names: what follows a model message without a
   * call is its observation too (an error notice, for example). `duplicate`: the call has a result already (the first wins);
   * `orphan`: no such call. Both leave the run unchanged.
   */
  result(result: ToolResult, of?: number): Pairing
  turn(kind: Turn['kind'], text: string, source: SourceRef): void
  readonly count: number
  finish(): { readonly interactions: readonly Interaction[]; readonly turns: readonly Turn[]; readonly task: string }
}

interface Draft {
  actor: string | null
  reasoning: string[]
  text: string[]
  calls: { call: ToolCall; answered: boolean }[]
  observations: Observation[]
  source: SourceRef
}

export function createRunBuilder(): RunBuilder {
  const drafts: Draft[] = []
  const turns: Turn[] = []
  const append = (draft: Draft, more: { reasoning: string; text: string; toolCalls: readonly ToolCall[] }): void => {
    if (more.reasoning !== '') draft.reasoning.push(more.reasoning)
    if (more.text !== '') draft.text.push(more.text)
    draft.calls.push(...more.toolCalls.map((call) => ({ call, answered: false })))
  }
  return {
    call(call) {
      const draft: Draft = {
        actor: call.actor ?? null,
        reasoning: [],
        text: [],
        calls: [],
        observations: [],
        source: call.source,
      }
      append(draft, call)
      return drafts.push(draft) - 1
    },
    extend(index, more) {
      const draft = drafts[index]
      if (draft !== undefined) append(draft, more)
    },
    result(result, of) {
      const newest = drafts.at(-1)
      if (result.callId === null && result.name === null && newest !== undefined && newest.calls.length === 0) {
        newest.observations.push({ callId: null, content: result.content, isError: result.isError })
        return 'paired'
      }
      const draft = of === undefined ? drafts.findLast((candidate) => candidate.calls.length > 0) : drafts[of]
      const same = draft?.calls.filter((entry) => isCallOf(entry.call, result)) ?? []
      const open = same.find((entry) => !entry.answered)
      if (draft === undefined || open === undefined) return same.length > 0 ? 'duplicate' : 'orphan'
      open.answered = true
      draft.observations.push({ callId: open.call.id, content: result.content, isError: result.isError })
      return 'paired'
    },
    turn(kind, text, source) {
      if (text.trim() !== '') turns.push({ before: drafts.length, kind, text, source })
    },
    get count() {
      return drafts.length
    },
    finish() {
      return {
        interactions: drafts.map((draft, index) => ({
          index,
          actor: draft.actor,
          reasoning: toWellFormed(draft.reasoning.join('\n')),
          text: toWellFormed(draft.text.join('\n')),
          toolCalls: draft.calls.map(({ call }) => ({
            id: call.id,
            name: toWellFormed(call.name),
            arguments: toWellFormed(call.arguments),
          })),
          observations: draft.observations,
          source: draft.source,
        })),
        ...splitTask(turns),
      }
    },
  }
}

function isCallOf(call: ToolCall, result: ToolResult): boolean {
  if (result.callId !== null && call.id !== null) return call.id === result.callId
  return result.name === null || result.name === call.name
}

/**
 * The task header: the user turns before the first interaction, or, when a run starts from a command of the harness, the
 * context before it. What makes up the task is not repeated among the turns.
 */
export function splitTask(turns: readonly Turn[]): { readonly turns: readonly Turn[]; readonly task: string } {
  const head = turns.filter((turn) => turn.before === 0)
  const kind = head.some((turn) => turn.kind === 'user') ? 'user' : 'context'
  const header = new Set(head.filter((turn) => turn.kind === kind))
  return {
    task: [...header].map((turn) => turn.text).join('\n\n'),
    turns: turns.filter((turn) => !header.has(turn)),
  }
}
