import { describe, expect, it } from 'vitest'
import type { NeutralTurn } from '../../../../src/protocol/convert/neutral.ts'
import { writeGeminiContents } from '../../../../src/protocol/gemini-contents/write.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const text = (said: string): { kind: 'text'; text: string } => ({ kind: 'text', text: said })
const png = { kind: 'image', mimeType: 'image/png', source: { kind: 'base64', data: 'iVBORw0KGgo=' } } as const

/** The written contents, found valid for a model that wants signatures. */
function written(turns: readonly NeutralTurn[]): ReturnType<typeof writeGeminiContents> {
  const made = writeGeminiContents(turns)
  const body = JSON.stringify({
    model: 'gemini-3-pro-preview',
    contents: made.messages,
    systemInstruction: made.system ?? undefined,
  })
  expect(validateHistory(parseHistory(body, 'gemini-contents')).filter(({ rule }) => rule !== 'G1')).toEqual([])
  return made
}

describe('writeGeminiContents', () => {
  it('writes the results of a batch in call order in one user content, errors as errors', () => {
    const { messages, system, losses } = written([
      { kind: 'system', text: 'S' },
      { kind: 'user', parts: [text('go'), { kind: 'media', media: png }] },
      {
        kind: 'assistant',
        parts: [text('both')],
        calls: [
          { id: 'c1', name: 'read', arguments: '{"p":"a"}' },
          { id: 'c2', name: 'list', arguments: '{}' },
        ],
      },
      {
        kind: 'results',
        results: [
          { id: 'c1', name: 'read', parts: [text('one'), text('two')], isError: false },
          { id: 'c2', name: 'list', parts: [], isError: true },
        ],
      },
    ])
    expect(system).toEqual({ parts: [{ text: 'S' }] })
    expect(messages).toEqual([
      { role: 'user', parts: [{ text: 'go' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] },
      {
        role: 'model',
        parts: [
          { text: 'both' },
          {
            functionCall: { id: 'c1', name: 'read', args: { p: 'a' } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: 'c2', name: 'list', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'read', response: { output: 'one\ntwo' } } },
          { functionResponse: { id: 'c2', name: 'list', response: { error: '' } } },
        ],
      },
    ])
    expect(losses).toEqual([])
  })

  it('makes one model content of neighbouring assistant turns, with one placeholder', () => {
    const { messages } = written([
      { kind: 'user', parts: [text('go')] },
      { kind: 'assistant', parts: [text('hm')], calls: [] },
      { kind: 'assistant', parts: [], calls: [{ id: 'c1', name: 'ls', arguments: '{}' }] },
      { kind: 'results', results: [{ id: 'c1', name: 'ls', parts: [text('x')], isError: false }] },
      { kind: 'user', parts: [text('on')] },
      { kind: 'user', parts: [text('and on')] },
    ])
    expect(messages.map((message) => (message as { role: string }).role)).toEqual([
      'user',
      'model',
      'user',
      'user',
      'user',
    ])
  })

  it('says what has no place: later system messages, files of another provider, media in results', () => {
    const byId = { kind: 'file', mimeType: null, source: { kind: 'id', id: 'file-1' } } as const
    const { messages, losses } = written([
      { kind: 'user', parts: [text('go'), { kind: 'media', media: byId }] },
      { kind: 'system', text: 'be terse' },
      { kind: 'assistant', parts: [], calls: [{ id: 'c1', name: 'shot', arguments: '{}' }] },
      {
        kind: 'results',
        results: [{ id: 'c1', name: 'shot', parts: [{ kind: 'media', media: png }], isError: false }],
      },
    ])
    expect(messages.slice(0, 2)).toEqual([
      { role: 'user', parts: [{ text: 'go' }, { text: '[file]' }] },
      { role: 'user', parts: [{ text: 'be terse' }] },
    ])
    expect(messages[3]).toEqual({
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c1',
            name: 'shot',
            response: { output: '' },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
          },
        },
      ],
    })
    expect(losses.length).toBe(3)
  })
})
