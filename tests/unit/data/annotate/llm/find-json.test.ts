import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { findJson } from '../../../../../data/annotate/llm/find-json.ts'

const VALUE = { records: [{ interaction: 0, reason: 'a } b ] "c" \\' }, { interaction: 1 }] }
const TEXT = JSON.stringify(VALUE)

describe('the JSON in an answer', () => {
  it.each([
    ['alone', TEXT],
    ['indented', JSON.stringify(VALUE, null, 2)],
    ['in a fence', `\`\`\`json\n${TEXT}\n\`\`\``],
    ['in a sentence', `Of {these} targets [1]: ${TEXT} That is all {.`],
    ['behind thoughts', `<think>{"records": []} no, wait</think>\n${TEXT}`],
  ] as const)('is found %s', (_, text) => {
    expect(findJson(text)).toEqual({ kind: 'value', value: VALUE })
  })

  it('may be a list of objects, never a list of numbers', () => {
    expect(findJson('[{"interaction": 1}]')).toEqual({ kind: 'value', value: [{ interaction: 1 }] })
    expect(findJson('see [1, 2]')).toEqual({ kind: 'none' })
    expect(findJson('')).toEqual({ kind: 'none' })
    expect(findJson('"READY"')).toEqual({ kind: 'none' })
  })

  test.prop([fc.integer({ min: 0, max: TEXT.length - 1 })])(
    'cut anywhere gives the whole records before the cut',
    (at) => {
      const found = findJson(TEXT.slice(0, at))
      const items = found.kind === 'partial' ? found.items : []
      expect(found.kind).not.toBe('value')
      expect(items).toEqual(VALUE.records.slice(0, items.length))
      const ends = [0, TEXT.indexOf(',{"interaction":1'), TEXT.length - 2]
      expect(items).toHaveLength(ends.filter((end) => end > 0 && at >= end).length)
    },
  )

  test.prop([fc.string()])('is looked for in any text without harm', (text) => {
    expect(['value', 'partial', 'none']).toContain(findJson(text).kind)
  })
})
