/**
 * Messages that stand in a provider's list and are no part of the conversation: what a client has injected, the summary of
 * its own compaction, the answer that it wrote in the model's name. They become turns, or nothing. Pure.
 */
import { flattenContent } from '../../src/protocol/flatten-content.ts'
import type { History, HistoryMessage } from '../../src/protocol/history.ts'
import type { Turn } from '../../src/trajectory/trajectory.ts'

/** Kind of the turn that a message is, or `drop`; null for what belongs to the conversation. */
export type JudgeMessage = (
  message: HistoryMessage,
  before: HistoryMessage | null,
) => 'summary' | 'context' | 'drop' | null

export interface Separated {
  readonly live: History
  /** Of each live message in the whole list. */
  readonly positions: readonly number[]
  readonly aside: readonly { readonly position: number; readonly kind: 'summary' | 'context'; readonly text: string }[]
  readonly dropped: number
}

export function setAside(history: History, judge: JudgeMessage | undefined): Separated {
  const positions: number[] = []
  const aside: Separated['aside'][number][] = []
  let dropped = 0
  history.messages.forEach((message, position) => {
    const kind = judge?.(message, history.messages[position - 1] ?? null) ?? null
    if (kind === null) positions.push(position)
    else if (kind === 'drop') dropped += 1
    else aside.push({ position, kind, text: messageText(message) })
  })
  if (positions.length === history.messages.length) return { live: history, positions, aside, dropped }
  const kept = new Set(positions)
  const messages = history.messages.filter((_, position) => kept.has(position))
  return { live: { ...history, messages }, positions, aside, dropped }
}

/** Its text blocks, joined by line breaks. */
export function messageText({ value, blocks }: HistoryMessage): string {
  return flattenContent(blocks === null ? value.content : blocks.map((block) => block.value)).text
}

/**
 * The turns of the live list with those set aside, in the order of the whole list.
 * @param placed turns and starts of interactions with their positions in the whole list
 */
export function withAside(
  placed: {
    readonly turns: readonly { readonly turn: Turn; readonly position: number }[]
    readonly interactions: readonly number[]
  },
  aside: readonly { readonly turn: Omit<Turn, 'before'>; readonly position: number }[],
): readonly Turn[] {
  const added = aside.map(({ turn, position }) => {
    const before = placed.interactions.filter((start) => start < position).length
    return { turn: { ...turn, before }, position }
  })
  return [...placed.turns, ...added].toSorted((a, b) => a.position - b.position).map(({ turn }) => turn)
}
