import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import { findSpans } from '../../../src/router/find-spans.ts'

/** a: assistant text, u: user turn, s: system message, c: a call that dies, 9: a summary of [n, 9). */
function spans(shape: string, ready: readonly number[]): readonly (readonly [number, number])[] {
  let index = 0
  const messages = [...shape].map((kind) => {
    if (kind === 'u') return { role: 'user', content: 'and' }
    if (kind === 's') return { role: 'system', content: 'rule' }
    if (/\d/.test(kind)) {
      const start = index
      index = Number(kind)
      const content = `<keepready-summary id="s" interactions="${start}-${kind}">\nfacts:\n- x\n</keepready-summary>`
      return { role: 'user', content }
    }
    index++
    if (kind === 'a') return { role: 'assistant', content: 'step' }
    return { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 't', arguments: '{}' } }] }
  })
  const split = splitHistory(
    parseHistory(JSON.stringify([{ role: 'user', content: 'go' }, ...messages]), 'openai-chat'),
  )
  return findSpans(split, new Set(ready)).map(({ start, end }) => [start, end])
}

const ALL = Array.from({ length: 20 }, (_, index) => index)

describe('findSpans', () => {
  it('joins neighbouring READY interactions and never takes the newest', () => {
    expect(spans('aaaa', ALL)).toEqual([[0, 3]])
  })
  it('is ended by a KEEP interaction', () => {
    expect(spans('aaaaa', [0, 1, 3])).toEqual([
      [0, 2],
      [3, 4],
    ])
  })
  it.each(['u', 's'])('is ended by %s', (between) => {
    expect(spans(`aa${between}aaa`, ALL)).toEqual([
      [0, 2],
      [2, 4],
    ])
  })
  it('is ended by an ineligible interaction', () => {
    expect(spans('aacaaa', ALL)).toEqual([
      [0, 2],
      [3, 5],
    ])
  })
  it('is ended by a summary, and counts canonical interactions behind it', () => {
    expect(spans('aa6aaa', ALL)).toEqual([
      [0, 2],
      [6, 8],
    ])
  })
  it('is empty when nothing is READY', () => {
    expect(spans('aaaa', [])).toEqual([])
  })
})
