import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { recoverTornJson } from '../../../../data/import/torn-json.ts'

const recovered = (text: string): unknown => recoverTornJson(text)?.document

describe('a torn JSON text', () => {
  it.each([
    ['[{"a":1},{"a":2},{"a":', [{ a: 1 }, { a: 2 }]],
    ['[{"a":1},{"a":2}', [{ a: 1 }, { a: 2 }]],
    ['[{"a":1},', [{ a: 1 }]],
    ['{"model":"m","messages":[{"c":["x"]},{"c":["y"', { model: 'm', messages: [{ c: ['x'] }] }],
    ['{"a":{"messages":[1,2,', { a: { messages: [1, 2] } }],
    ['{"messages":[{"c":1}],"n":12', { messages: [{ c: 1 }] }],
    ['[{"a":"\\u00e9\\n"},{"a":"\\u00', [{ a: 'é\n' }]],
    ['[{"a":1},{"a":oops},{"a":3}]', [{ a: 1 }]],
    ['[{"a":1}] and more', [{ a: 1 }]],
    ['[12,13,14', [12, 13]],
  ])('%s keeps its complete elements', (text, document) => {
    expect(recovered(text)).toEqual(document)
    expect(JSON.parse(recoverTornJson(text)?.text ?? '')).toEqual(document)
  })

  it.each(['[', '{', '[{"role":"user","content":"hel', '{"a":1', '{"a":{"b":1},"c', '[link](x)', '{"messages":['])(
    '%s has no complete element',
    (text) => {
      expect(recoverTornJson(text)).toBeNull()
    },
  )

  it('says how much is left out', () => {
    expect(recoverTornJson('{"messages":[1,2,{"x":')).toMatchObject({
      elementCount: 2,
      reason: expect.stringContaining('2 complete elements are kept, 6 characters after them are left out'),
    })
  })

  test.prop([fc.array(fc.jsonValue({ maxDepth: 3 }), { minLength: 1 }), fc.nat()])(
    'cut anywhere is a beginning of the list',
    (list, place) => {
      const text = JSON.stringify(list)
      const document = recovered(text.slice(0, place % text.length)) ?? []
      expect(document).toEqual(
        JSON.parse(JSON.stringify(list)).slice(0, Array.isArray(document) ? document.length : -1),
      )
    },
  )
})
