/**
 * Signed thinking that is bound to everything before it (reference/protocol.md, A10 and A11): after an edit the blocks
 * behind it would be refused, so they are left out. Pure.
 */
import type { History, HistoryMessage, JsonValue } from './history.ts'
import { jsonPointer } from './json-pointer.ts'
import { editMessage } from './repair/working-list.ts'
import { isObject } from './segment.ts'
import { valueAt } from './value-at.ts'

/**
 * `none`: signatures are checked for themselves. `prefix`: also against system, tools and every message before. `auto`: by
 * the model that the request names, `none` where it names none.
 */
export const THINKING_BINDINGS = ['none', 'prefix', 'auto'] as const
export type ThinkingBinding = (typeof THINKING_BINDINGS)[number]

/** Models with preserved thinking (A10), in the spellings of the API, Bedrock and Vertex. */
const PRESERVED_THINKING =
  /(?:fable|mythos)-5[-.][12](?!\d)|(?:opus|sonnet|haiku)-5[-.]5(?!\d)|5[-.][12]-(?:fable|mythos)|5[-.]5-(?:opus|sonnet|haiku)/

/** Whether an edit makes the thinking behind it invalid for this request. */
export function isPrefixBound({ request }: Pick<History, 'request'>, binding: ThinkingBinding): boolean {
  if (binding === 'none') return false
  // The way out that leaves it to the API (A11 b).
  if (valueAt(request, ['thinking', 'block_binding', 'prefix_mismatch_behavior']) === 'drop_block') return false
  return binding === 'prefix' || (typeof request.model === 'string' && PRESERVED_THINKING.test(request.model))
}

export interface StrippedMessages {
  readonly messages: readonly HistoryMessage[]
  /** Per message, its index among the edited ones. */
  readonly from: readonly number[]
  /** Pointers into the history before the edit, of the thinking blocks that were left out. */
  readonly stripped: readonly string[]
}

interface Piece {
  readonly text: string
  readonly message: number
  readonly pointer: string
  readonly isThinking: boolean
}

/**
 * The edited messages without the bound thinking that follows the first place where they differ from the history. Texts,
 * calls and results stay byte for byte; a message that held nothing else goes.
 */
export function stripBoundThinking(before: History, edited: readonly HistoryMessage[]): StrippedMessages {
  const old = piecesOf(before)
  const now = piecesOf({ ...before, messages: edited })
  let same = 0
  while (same < now.length && now[same]?.text === old[same]?.text) same++
  const behind = now.slice(same).filter((piece) => piece.isThinking)
  if (behind.length === 0) return { messages: edited, from: edited.map((_, index) => index), stripped: [] }
  const removed = new Map<number, Set<string>>()
  for (const { message, pointer } of behind)
    removed.set(message, (removed.get(message) ?? new Set<string>()).add(pointer))
  const kept = edited.flatMap((message, index) => {
    const own = removed.get(index)
    if (own === undefined) return [{ message, index }]
    const working = { message, origin: null, lists: {} }
    const rest = editMessage(before, working, { index, removed: own, inserted: null })
    return rest === null ? [] : [{ message: rest.message, index }]
  })
  let next = same
  const stripped = behind.map(({ text, pointer }) => {
    let at = next
    while (at < old.length && old[at]?.text !== text) at++
    if (at < old.length) next = at + 1
    return old[at]?.pointer ?? pointer
  })
  return { messages: kept.map(({ message }) => message), from: kept.map(({ index }) => index), stripped }
}

function piecesOf({ listField, messages }: History): readonly Piece[] {
  return messages.flatMap((message, number): readonly Piece[] => {
    if (message.blocks === null)
      return [
        {
          text: message.raw,
          message: number,
          pointer: jsonPointer([listField, number]),
          isThinking: false,
        },
      ]
    return message.blocks.map((block, index) => ({
      text: `${message.role} ${block.raw}`,
      message: number,
      pointer: jsonPointer([listField, number, 'content', index]),
      isThinking: message.role === 'assistant' && isBoundThinking(block.value),
    }))
  })
}

/** Anthropic's own blocks, and the AI SDK's reasoning parts that carry its signature. */
function isBoundThinking(block: JsonValue): boolean {
  if (!isObject(block)) return false
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return true
  return block.type === 'reasoning' && isObject(valueAt(block, ['providerOptions', 'anthropic']))
}
