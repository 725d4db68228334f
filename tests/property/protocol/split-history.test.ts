import { test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import type { HistoryItem, Part, SplitHistory } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import { blockingViolations, validateHistory } from '../../../src/protocol/validate-history.ts'
import { anyHistory, validHistory } from './arbitrary-history.ts'

const partsOf = (item: HistoryItem): readonly Part[] =>
  item.kind === 'interaction' ? item.interaction.parts : item.parts

/** `message/block` of every block that the parts cover; a message without block list counts as its block 0. */
function cover({ history }: SplitHistory, parts: readonly Part[]): readonly string[] {
  return parts.flatMap(({ message, blocks }) => {
    const [start, end] = blocks ?? [0, Math.max(1, history.messages[message]?.blocks?.length ?? 1)]
    return Array.from({ length: end - start }, (_, offset) => `${message}/${start + offset}`)
  })
}

describe('any history', () => {
  test.prop([anyHistory])('comes back as the same bytes when it is rendered', ({ text, format, messages }) => {
    const history = parseHistory(text, format)
    expect(history.messages.map(({ raw }) => raw)).toEqual(messages)
    expect(renderMessages(history.messages)).toBe(`[${messages.join(',')}]`)
  })

  test.prop([anyHistory])('is partitioned by the parts of its items', ({ text, format }) => {
    const split = splitHistory(parseHistory(text, format))
    const all = cover(
      split,
      split.history.messages.map((_, message) => ({ message })),
    )
    const covered = split.items.flatMap((item) => cover(split, partsOf(item)))
    expect([...covered].sort()).toEqual([...all].sort())
  })

  test.prop([anyHistory])(
    'has its items in the order of their first part, interactions numbered from 0',
    ({ text, format }) => {
      const split = splitHistory(parseHistory(text, format))
      const firsts = split.items.map((item) => partsOf(item)[0]?.message ?? -1)
      expect(firsts).toEqual([...firsts].sort((a, b) => a - b))
      expect(split.interactions.map(({ index }) => index)).toEqual(split.interactions.map((_, number) => number))
      expect(split.trajectory.interactions.map(({ index }) => index)).toEqual(
        split.interactions.map(({ index }) => index),
      )
    },
  )

  test.prop([anyHistory])(
    'never gives a call more than one observation, and only the newest calls are in flight',
    ({ text, format }) => {
      const split = splitHistory(parseHistory(text, format))
      split.interactions.forEach((interaction, number) => {
        const canonical = split.trajectory.interactions[number]
        expect(canonical?.observations.length).toBeLessThanOrEqual(canonical?.toolCalls.length ?? 0)
        const complete = canonical?.observations.length === canonical?.toolCalls.length
        expect(interaction.state === 'answered').toBe(complete)
        if (interaction.state === 'in-flight') expect(interaction.ineligible).toBe('in-flight')
        if (number === split.interactions.length - 1) expect(interaction.ineligible).not.toBeNull()
      })
    },
  )

  test.prop([anyHistory])('keeps the user text in task and turns, in order', ({ text, format, userTexts }) => {
    const { trajectory } = splitHistory(parseHistory(text, format))
    const turns = trajectory.turns.filter(({ kind }) => kind === 'user').map((turn) => turn.text)
    const said = [trajectory.task, ...turns].join('\n')
    let from = 0
    for (const userText of userTexts) {
      const at = said.indexOf(userText, from)
      expect(at).toBeGreaterThanOrEqual(from)
      from = at + userText.length
    }
  })
})

describe('a history that its maker calls valid', () => {
  test.prop([validHistory])('has no blocking violation', ({ text, format }) => {
    expect(blockingViolations(validateHistory(parseHistory(text, format)))).toEqual([])
  })
})
