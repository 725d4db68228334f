import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const found = (contents: readonly unknown[], body: object = {}): readonly string[] =>
  validateHistory(parseHistory(JSON.stringify({ ...body, contents }), 'gemini-contents')).map(
    ({ rule, pointer, advisory }) => `${rule} ${pointer}${advisory ? ' advisory' : ''}`,
  )

const user = (...parts: unknown[]): unknown => ({ role: 'user', parts })
const model = (...parts: unknown[]): unknown => ({ role: 'model', parts })
const call = (name: string, id?: string): object => ({ functionCall: { id, name, args: {} } })
const signed = (name: string, id?: string): object => ({ ...call(name, id), thoughtSignature: 'c2ln' })
const answer = (name: string, id?: string): unknown => ({ functionResponse: { id, name, response: { output: 'ok' } } })
const GO = user({ text: 'go' })

describe('validateHistory on Gemini contents', () => {
  it('accepts two user contents in a row, parallel calls without ids, and role function', () => {
    expect(
      found([
        GO,
        GO,
        model(signed('a'), call('a'), call('b')),
        { role: 'function', parts: [answer('a'), answer('a'), answer('b')] },
      ]),
    ).toEqual([])
  })

  it('reports calls in flight as advisory, and calls that a later turn has closed as broken', () => {
    expect(found([GO, model(signed('a'), call('b'))])).toEqual([
      'G2 /contents/1/parts/0 advisory',
      'G2 /contents/1/parts/1 advisory',
      'G1 /contents/1 advisory',
    ])
    expect(found([GO, model(signed('a', 'k1'), call('a', 'k2')), user(answer('a', 'k2')), GO])).toEqual([
      'G2 /contents/1/parts/0',
    ])
  })

  it('reports responses that are too many, or that follow no call', () => {
    expect(found([GO, model(signed('a')), user(answer('a'), answer('a'))])).toEqual(['G2 /contents/2/parts/1'])
    expect(found([GO, user(answer('a'))])).toEqual(['G2 /contents/1/parts/0'])
  })

  it('reports a user content between call and response on both sides', () => {
    expect(found([GO, model(signed('a')), GO, user(answer('a'))])).toEqual([
      'G2 /contents/1/parts/0',
      'G2 /contents/3/parts/0',
    ])
  })

  it('reports ids that no call has, and responses in another order as advisory', () => {
    const batch = model(signed('a', 'k1'), call('a', 'k2'))
    expect(found([GO, batch, user(answer('a', 'k1'), answer('a', 'k9'))])).toEqual(['G3 /contents/2/parts/1'])
    expect(found([GO, batch, user(answer('a', 'k2'), answer('a', 'k1'))])).toEqual(['G3 /contents/2/parts/1 advisory'])
  })

  it('reports other parts beside responses as advisory', () => {
    expect(found([GO, model(signed('a')), user(answer('a'), { text: 'and hurry' })])).toEqual([
      'G3 /contents/2/parts/1 advisory',
    ])
  })

  it('reports a response of another name as advisory, and one without a name as broken', () => {
    expect(found([GO, model(signed('a', 'k')), user(answer('b', 'k'))])).toEqual(['G6 /contents/2/parts/0 advisory'])
    expect(found([GO, model(signed('a'), call('b')), user(answer('a'), answer('c'))])).toEqual([
      'G6 /contents/2/parts/1 advisory',
    ])
    expect(found([GO, model(signed('a', 'k')), user({ functionResponse: { id: 'k', response: {} } })])).toEqual([
      'G6 /contents/2/parts/0',
    ])
  })

  it('asks for the signature of the first call of every step of the current turn alone', () => {
    const gemini3 = { model: 'models/gemini-3-pro-preview' }
    const steps = [GO, model(call('a')), user(answer('a')), model(call('a'), call('a')), user(answer('a'), answer('a'))]
    expect(found(steps, gemini3)).toEqual(['G4 /contents/1/parts/0', 'G4 /contents/3/parts/0'])
    expect(found(steps)).toEqual(['G4 /contents/1/parts/0 advisory', 'G4 /contents/3/parts/0 advisory'])
    expect(found([...steps, GO], gemini3)).toEqual([])
    expect(found(steps, { model: 'gemini-2.5-flash' })).toEqual([])
  })

  it('does not take the signature of another part for that of the call', () => {
    const thought = { text: '', thoughtSignature: 'c2ln' }
    expect(found([GO, model(thought, call('a')), user(answer('a'))], { model: 'gemini-3-flash' })).toEqual([
      'G4 /contents/1/parts/1',
    ])
  })

  it('tells a turn that a logger has split from a call that follows calls', () => {
    expect(found([GO, model({ text: 'Hm.' }), model(signed('a')), user(answer('a'))])).toEqual([
      'G1 /contents/2 advisory',
    ])
    expect(found([GO, model(signed('a')), model(call('b')), user(answer('a'), answer('b'))])).toEqual([
      'G1 /contents/2',
    ])
  })

  it('tolerates an empty text that carries a signature, and no other empty content', () => {
    expect(
      found([GO, model(signed('a')), user(answer('a')), model({ text: '', thoughtSignature: 'c2ln' }), GO]),
    ).toEqual([])
    expect(found([user(), user({ text: '' }), user({}), { role: 'user' }])).toEqual([
      'G7 /contents/0',
      'G7 /contents/1/parts/0',
      'G7 /contents/2/parts/0',
      'G7 /contents/3',
    ])
  })
})
