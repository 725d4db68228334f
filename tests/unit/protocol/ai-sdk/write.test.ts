import { describe, expect, it } from 'vitest'
import { writeAiSdk } from '../../../../src/protocol/ai-sdk/write.ts'
import type { NeutralTurn } from '../../../../src/protocol/convert/neutral.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const text = (said: string): { kind: 'text'; text: string } => ({ kind: 'text', text: said })
const png = { kind: 'image', mimeType: null, source: { kind: 'base64', data: 'iVBORw0KGgo=' } } as const
const web = { kind: 'image', mimeType: null, source: { kind: 'url', url: 'https://e.x/i.png' } } as const

function written(turns: readonly NeutralTurn[]): ReturnType<typeof writeAiSdk> {
  const made = writeAiSdk(turns)
  expect(validateHistory(parseHistory(JSON.stringify(made.messages), 'ai-sdk'))).toEqual([])
  return made
}

describe('writeAiSdk', () => {
  it('writes a batch as parts and its results as one tool message', () => {
    const { messages, system } = written([
      { kind: 'system', text: 'S' },
      { kind: 'user', parts: [text('go')] },
      { kind: 'assistant', parts: [text('both')], calls: [{ id: 'c1', name: 'read', arguments: '{"p":"a"}' }] },
      { kind: 'results', results: [{ id: 'c1', name: 'read', parts: [text('one'), text('two')], isError: true }] },
      { kind: 'assistant', parts: [text('ok')], calls: [] },
      { kind: 'user', parts: [text('on')] },
    ])
    expect(system).toBeNull()
    expect(messages).toEqual([
      { role: 'system', content: 'S' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'both' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: { p: 'a' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'read',
            output: { type: 'error-text', value: 'one\ntwo' },
          },
        ],
      },
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: 'on' },
    ])
  })

  it('writes media of every place, and says what is lost', () => {
    const { messages, losses } = written([
      { kind: 'user', parts: [text('look'), { kind: 'media', media: png }, { kind: 'media', media: web }] },
      {
        kind: 'assistant',
        parts: [{ kind: 'media', media: png }],
        calls: [{ id: 'c1', name: 'shot', arguments: '{}' }],
      },
      {
        kind: 'results',
        results: [
          {
            id: 'c1',
            name: 'shot',
            parts: [text('a'), { kind: 'media', media: png }, { kind: 'media', media: web }],
            isError: true,
          },
        ],
      },
    ])
    expect(messages).toMatchObject([
      {
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', image: 'iVBORw0KGgo=' },
          { type: 'image', image: 'https://e.x/i.png' },
        ],
      },
      { content: [{ type: 'file', data: 'iVBORw0KGgo=', mediaType: 'image/png' }, { type: 'tool-call' }] },
      {
        content: [
          {
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'a' },
                { type: 'image-data', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
                { type: 'image-url', url: 'https://e.x/i.png' },
              ],
            },
          },
        ],
      },
    ])
    expect(losses).toEqual(['the error mark of a tool result that holds media'])
  })
})
