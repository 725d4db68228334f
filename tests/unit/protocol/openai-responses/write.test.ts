import { describe, expect, it } from 'vitest'
import type { NeutralTurn } from '../../../../src/protocol/convert/neutral.ts'
import type { Media } from '../../../../src/protocol/media.ts'
import { writeOpenAiResponses } from '../../../../src/protocol/openai-responses/write.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const text = (words: string): { readonly kind: 'text'; readonly text: string } => ({ kind: 'text', text: words })
const medium = (media: Media): { readonly kind: 'media'; readonly media: Media } => ({ kind: 'media', media })
const PNG: Media = {
  kind: 'image',
  mimeType: 'image/png',
  source: { kind: 'base64', data: 'iVBORw0KGgo=' },
  detail: 'low',
}

const TURNS: readonly NeutralTurn[] = [
  { kind: 'system', text: 'Be brief.' },
  { kind: 'system', text: 'Mind the tests.' },
  { kind: 'user', parts: [text('look'), medium(PNG)] },
  { kind: 'assistant', parts: [text('I look.')], calls: [{ id: 'a', name: 'f', arguments: '{"n":1.0}' }] },
  { kind: 'results', results: [{ id: 'a', name: 'f', parts: [text('found')], isError: false }] },
  { kind: 'system', text: 'Hurry.' },
  { kind: 'assistant', parts: [], calls: [{ id: 'b', name: 'f', arguments: '{}' }] },
  { kind: 'results', results: [{ id: 'b', name: 'f', parts: [text('see'), medium(PNG)], isError: true }] },
  { kind: 'user', parts: [text('and?')] },
]

describe('writeOpenAiResponses', () => {
  it('writes a valid list without item ids, the system texts in front as instructions', () => {
    const { messages, system, losses } = writeOpenAiResponses(TURNS)
    expect(system).toBe('Be brief.\n\nMind the tests.')
    expect(losses).toEqual(['the error mark of a tool result: outputs have none'])
    expect(messages).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
        ],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"n":1.0}' },
      { type: 'function_call_output', call_id: 'a', output: 'found' },
      { type: 'message', role: 'system', content: 'Hurry.' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
        ],
      },
      { type: 'message', role: 'user', content: 'and?' },
    ])
    const history = parseHistory(JSON.stringify(messages), 'openai-responses')
    expect(validateHistory(history)).toEqual([])
    expect(splitHistory(history).trajectory.interactions).toMatchObject([
      { text: 'I look.', toolCalls: [{ id: 'a' }], observations: [{ content: 'found' }] },
      { toolCalls: [{ id: 'b' }], observations: [{ content: 'see\n[input image]' }] },
    ])
  })

  it('writes an empty result as an empty output, and no system as null', () => {
    const written = writeOpenAiResponses([
      { kind: 'assistant', parts: [], calls: [{ id: 'a', name: 'f', arguments: '{}' }] },
      { kind: 'results', results: [{ id: 'a', name: 'f', parts: [], isError: false }] },
    ])
    expect(written.system).toBeNull()
    expect(written.messages.at(-1)).toEqual({ type: 'function_call_output', call_id: 'a', output: '' })
  })

  it.each<readonly [string, Media, unknown]>([
    [
      'an address',
      { kind: 'image', mimeType: null, source: { kind: 'url', url: 'https://x/y' } },
      { type: 'input_image', image_url: 'https://x/y' },
    ],
    [
      'a file of OpenAI',
      { kind: 'file', mimeType: null, source: { kind: 'id', id: 'file-1' } },
      { type: 'input_file', file_id: 'file-1' },
    ],
    [
      'a text file',
      { kind: 'file', mimeType: 'text/plain', source: { kind: 'base64', data: 'YQ==' } },
      { type: 'input_file', filename: 'file.txt', file_data: 'data:text/plain;base64,YQ==' },
    ],
    [
      'a file at an address',
      { kind: 'file', mimeType: null, source: { kind: 'url', url: 'https://x/y.pdf' } },
      { type: 'input_file', file_url: 'https://x/y.pdf' },
    ],
  ])('writes %s', (_, media, expected) => {
    const { messages, losses } = writeOpenAiResponses([{ kind: 'user', parts: [medium(media)] }])
    expect(messages).toEqual([{ type: 'message', role: 'user', content: [expected] }])
    expect(losses).toEqual([])
  })

  it('says what it could not write: sound, film, files of other providers, and what the model did not say in words', () => {
    const sound = medium({ kind: 'audio', mimeType: 'audio/wav', source: { kind: 'base64', data: 'UklGRg==' } })
    const foreign = medium({ kind: 'image', mimeType: null, source: { kind: 'id', id: 'file_011C' } })
    const { messages, losses } = writeOpenAiResponses([
      { kind: 'user', parts: [sound, foreign] },
      { kind: 'assistant', parts: [medium(PNG)], calls: [] },
    ])
    expect(losses).toEqual([
      '[audio] of a user message: this format has no place for it',
      '[image] of a user message: this format has no place for it',
      '[image] of an assistant message: this format takes text alone there',
    ])
    expect(messages).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: '[audio]' },
          { type: 'input_text', text: '[image]' },
        ],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '[image]' }] },
    ])
  })
})
