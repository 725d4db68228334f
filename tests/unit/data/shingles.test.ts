import { describe, expect, it } from 'vitest'
import { countShared, shinglesOf } from '../../../data/shingles.ts'
import { runOf } from '../evidence/run-of.ts'

const eight = 'one two three four five six seven eight'
const shinglesOfText = (text: string): Uint32Array => shinglesOf(runOf({ steps: [{ text }] }))

describe('shingles of a run', () => {
  it('are windows of 8 words: none below 8 words, one for 8, one more for each further word', () => {
    expect(shinglesOfText('one two three four five six seven').length).toBe(0)
    expect(shinglesOfText(eight).length).toBe(1)
    expect(shinglesOfText(`${eight} nine ten`).length).toBe(3)
  })

  it('do not see case, layout or punctuation', () => {
    expect(shinglesOfText('One, TWO: (three)\n four-five\t"six" seven...eight!')).toEqual(shinglesOfText(eight))
  })

  it('see the order of the words, and each word', () => {
    expect(shinglesOfText('two one three four five six seven eight')).not.toEqual(shinglesOfText(eight))
    expect(shinglesOfText('one two three four five six seven eighth')).not.toEqual(shinglesOfText(eight))
    expect(shinglesOfText('onetwo three four five six seven eight x')).not.toEqual(shinglesOfText(eight))
  })

  it('count a repeated passage once', () => {
    expect(shinglesOfText(`${eight} `.repeat(50)).length).toBe(8)
  })

  it('leave out the system prompt and the task', () => {
    const steps = [{ text: eight }]
    expect(shinglesOf(runOf({ steps, task: `${eight} nine`, system: `zero ${eight}` })).length).toBe(1)
  })

  it('hold what turns say, where they say it', () => {
    const parts = eight.split(' ')
    const steps = [{ text: parts.slice(0, 3).join(' ') }, { text: parts.slice(5).join(' ') }]
    const turns = [{ before: 1, text: parts.slice(3, 5).join(' ') }]
    expect(shinglesOf(runOf({ steps, turns }))).toEqual(shinglesOfText(eight))
    expect(shinglesOf(runOf({ steps: [{ text: eight }], turns: [{ before: 1, text: 'nine' }] }))).toEqual(
      shinglesOfText(`${eight} nine`),
    )
  })

  it('hold calls with their arguments and what was observed', () => {
    const run = runOf({ steps: [{ reasoning: 'one', call: '{"two": "three"}', sees: 'four five six seven' }] })
    expect(shinglesOf(run)).toEqual(shinglesOfText('one run_tool two three four five six seven'))
  })

  it('take letters of other scripts as words, and each character of scripts without blanks', () => {
    expect(shinglesOfText('\u043e\u0434\u0438\u043d \u00dcber \u03b1\u03b2 d e f g h').length).toBe(1)
    expect(shinglesOfText('\u00dcBER a b c d e f g')).toEqual(shinglesOfText('\u00fcber a b c d e f g'))
    expect(shinglesOfText('\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b').length).toBe(1)
    expect(shinglesOfText('\u4e00\u4e8c\u4e09\u56db\u3002\u4e94\u516d\u4e03\u516b\u4e5d').length).toBe(2)
  })

  it('are ascending and distinct', () => {
    const hashes = [...shinglesOfText(Array.from({ length: 500 }, (_, i) => `w${i % 90}`).join(' '))]
    expect(hashes).toEqual([...new Set(hashes)].sort((a, b) => a - b))
  })
})

describe('countShared', () => {
  it('counts what stands in both', () => {
    expect(countShared(Uint32Array.of(1, 3, 5, 9), Uint32Array.of(2, 3, 9, 4_000_000_000))).toBe(2)
    expect(countShared(new Uint32Array(), Uint32Array.of(1))).toBe(0)
  })
})
