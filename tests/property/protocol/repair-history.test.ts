import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import type { History } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { readSegments } from '../../../src/protocol/read-segments.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { CLOSING_TEXT } from '../../../src/protocol/repair/place-results.ts'
import { repairHistory } from '../../../src/protocol/repair/repair-history.ts'
import type { Segment } from '../../../src/protocol/segment.ts'
import { blockingViolations, pairingOf, validateHistory } from '../../../src/protocol/validate-history.ts'
import { anyHistory, validHistory } from './arbitrary-history.ts'
import { damagedHistory } from './damaged-history.ts'

const RUNS = { numRuns: 150 }
const danglingCalls = fc.constantFrom('drop' as const, 'close' as const)

const segmentsOf = (history: History): readonly Segment[] =>
  history.messages.flatMap((message, number) => readSegments(history, message, number))

const userTexts = (history: History): readonly string[] =>
  history.messages.flatMap((message, number) =>
    message.role === 'user'
      ? readSegments(history, message, number).flatMap((segment) =>
          segment.kind === 'text' && segment.text.trim() !== '' ? [segment.text] : [],
        )
      : [],
  )

const hasUserTurn = (history: History): boolean =>
  history.messages.some(
    (message, number) =>
      message.role === 'user' && readSegments(history, message, number).some(({ kind }) => kind !== 'result'),
  )

/** What a segment says, without its place and its id. */
const said = (segment: Segment): string => {
  switch (segment.kind) {
    case 'call':
      return `call ${segment.name} ${segment.arguments}`
    case 'result':
      return `result ${segment.content}`
    default:
      return `${segment.kind} ${segment.text}`
  }
}

describe('a repair of any damaged history', () => {
  test.prop([damagedHistory, danglingCalls], RUNS)(
    'keeps the words of the user verbatim and in order',
    (given, how) => {
      const history = parseHistory(given.text, given.format)
      expect(userTexts(repairHistory(history, { danglingCalls: how }).history)).toEqual(userTexts(history))
    },
  )

  test.prop([damagedHistory, danglingCalls], RUNS)('repaired again changes nothing', (given, how) => {
    const { history } = repairHistory(parseHistory(given.text, given.format), { danglingCalls: how })
    const again = repairHistory(history, { danglingCalls: how })
    expect(again.changes).toEqual([])
    expect(again.history).toBe(history)
  })

  test.prop([damagedHistory, danglingCalls], RUNS)(
    'is valid, unless nothing of the user is left to begin with or calls in flight share an id',
    (given, how) => {
      const { history, remaining } = repairHistory(parseHistory(given.text, given.format), { danglingCalls: how })
      expect(remaining).toEqual(validateHistory(history))
      const { inFlight } = pairingOf(history)
      const left = blockingViolations(remaining).filter(
        ({ rule, pointer }) =>
          !(rule === 'A3' && inFlight.has(pointer)) && !(rule === 'V9' && history.messages.length === 0),
      )
      if (hasUserTurn(history)) expect(left).toEqual([])
      else expect(left.every(({ rule }) => rule === 'A5' || rule === 'G1')).toBe(true)
    },
  )

  test.prop([damagedHistory, danglingCalls], RUNS)(
    'makes up nothing but the fixed text of closing results, and reports each change at a place of the input',
    (given, how) => {
      const history = parseHistory(given.text, given.format)
      const repair = repairHistory(history, { danglingCalls: how })
      const before = new Map<string, number>()
      for (const segment of segmentsOf(history)) before.set(said(segment), (before.get(said(segment)) ?? 0) + 1)
      for (const segment of segmentsOf(repair.history)) {
        const left = before.get(said(segment)) ?? 0
        if (segment.kind === 'result' && segment.content.includes(CLOSING_TEXT)) {
          // A Gemini call whose signature the other calls of its content need is closed in either case.
          expect(how === 'close' || given.format === 'gemini-contents').toBe(true)
          continue
        }
        expect(left).toBeGreaterThan(0)
        before.set(said(segment), left - 1)
      }
      for (const { pointer, rule } of repair.changes) {
        const index = Number(pointer.split('/')[2])
        expect(index).toBeLessThan(history.messages.length)
        expect(rule).toMatch(/^[ACRGV]\d+$/)
      }
    },
  )

  test.prop([damagedHistory, danglingCalls], RUNS)(
    'leaves calls in flight in flight, under their ids',
    (given, how) => {
      const history = parseHistory(given.text, given.format)
      const waiting = (of: History): readonly string[] => {
        const { inFlight } = pairingOf(of)
        return segmentsOf(of).flatMap((segment) =>
          segment.kind === 'call' && inFlight.has(segment.pointer) ? [`${segment.id} ${said(segment)}`] : [],
        )
      }
      const after = waiting(repairHistory(history, { danglingCalls: how }).history)
      for (const call of waiting(history)) expect(after).toContain(call)
    },
  )
})

describe('a repair of a history without blocking violations', () => {
  test.prop([fc.oneof(validHistory, anyHistory)], RUNS)('without any is that history', (given) => {
    const history = parseHistory(given.text, given.format)
    if (validateHistory(history).length > 0) return
    expect(repairHistory(history)).toMatchObject({ changes: [], remaining: [] })
    expect(repairHistory(history).history).toBe(history)
  })

  test.prop([validHistory], RUNS)(
    'of a valid history leaves every message that no change names as the same bytes',
    (given) => {
      const history = parseHistory(given.text, given.format)
      const { history: repaired, changes } = repairHistory(history)
      const named = new Set(changes.map(({ pointer }) => Number(pointer.split('/')[2])))
      const out = renderMessages(repaired.messages)
      history.messages.forEach(({ raw }, number) => {
        if (!named.has(number) && changes.every(({ action }) => action === 'dropped')) expect(out).toContain(raw)
      })
    },
  )
})
