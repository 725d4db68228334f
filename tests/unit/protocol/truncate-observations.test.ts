import { describe, expect, it } from 'vitest'
import type { HistoryFormat } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { truncateObservations } from '../../../src/protocol/truncate-observations.ts'
import { hasLoneSurrogate } from '../../../src/protocol/well-formed.ts'

const CIRCLE = '\ud83d\udfe1'

function truncate(text: string, format: HistoryFormat, maxChars: number): string {
  const once = truncateObservations(parseHistory(text, format), { maxChars })
  expect(renderMessages(truncateObservations(once, { maxChars }).messages)).toBe(renderMessages(once.messages))
  return renderMessages(once.messages)
}

const chat = (content: unknown): string =>
  `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","n":1.0,"tool_call_id":"a","content":${JSON.stringify(content)}}]`

describe('truncateObservations', () => {
  it('steps back before a surrogate pair, and says how many characters are gone', () => {
    const out = truncate(chat(`${'a'.repeat(19)}${CIRCLE} degraded`), 'openai-chat', 20)
    expect(out).toContain(`"n":1.0,"tool_call_id":"a","content":"${'a'.repeat(19)}\\n[11 characters left out]"`)
    expect(hasLoneSurrogate(out)).toBe(false)
    expect(truncate(chat(`${'a'.repeat(18)}${CIRCLE}b`), 'openai-chat', 20)).toContain(`${CIRCLE}\\n[1 characters`)
  })
  it('replaces half pairs anywhere, and changes nothing else', () => {
    const text = chat('ok').replace('"go"', '"g\\ud83d \\u00e9"')
    expect(truncate(text, 'openai-chat', 20)).toBe(text.replace('\\ud83d', '\ufffd'))
    expect(truncate(chat('short'), 'openai-chat', 5)).toBe(chat('short'))
  })
  it('cuts the texts of a list together, and leaves images as they are', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
    const content = [{ type: 'text', text: 'abcdef' }, image, { type: 'text', text: 'ghijkl' }]
    const text = JSON.stringify([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content },
          { type: 'text', text: 'a long word of the user' },
        ],
      },
    ])
    const out = truncate(text, 'anthropic-messages', 8)
    expect(out).toContain('"abcdef"')
    expect(out).toContain('"gh\\n[4 characters left out]"')
    expect(out).toContain('iVBORw0KGgo=')
    expect(out).toContain('a long word of the user')
  })
  it.each([
    ['openai-responses', { type: 'function_call_output', call_id: 'a', output: 'abcdef' }],
    [
      'gemini-contents',
      { role: 'user', parts: [{ functionResponse: { name: 't', response: { output: 'abcdef', n: 1 } } }] },
    ],
    [
      'ai-sdk',
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'a', toolName: 't', output: { type: 'text', value: 'abcdef' } }],
      },
    ],
  ] as const)('finds what a result of %s says', (format, message) => {
    expect(truncate(JSON.stringify([message]), format, 4)).toContain('"abcd\\n[2 characters left out]"')
  })
})
