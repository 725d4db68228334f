import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { hashHistory } from '../../../src/protocol/hash-history.ts'
import type { HistoryFormat } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'

const ODD =
  '{"role":"user","content":"go","meta":{"10":1.0,"9":12345678901234567890,"n":-0,"e":1E2,"s":"\\u00e9\\/"},"meta":2}'

function pointerOf(text: string, format: HistoryFormat): unknown {
  try {
    parseHistory(text, format)
  } catch (error) {
    if (error instanceof AppError && error.code === 'history-malformed') return error.details.pointer
    throw error
  }
  return 'accepted'
}

describe('parseHistory', () => {
  it.each(['openai-chat', 'anthropic-messages'] as const)('keeps every byte of a message of %s', (format) => {
    const history = parseHistory(`\ufeff [ ${ODD} ,\n${ODD}]`, format)
    expect(renderMessages(history.messages)).toBe(`[${ODD},${ODD}]`)
  })

  it('keeps the raw slice of each content block', () => {
    const block = '{ "type" : "text", "text":"a", "n": 1.0 }'
    const history = parseHistory(
      `{"messages":[{"role":"user","content":[ ${block} , ${block}]}]}`,
      'anthropic-messages',
    )
    expect(history.messages[0]?.blocks?.map(({ raw }) => raw)).toEqual([block, block])
  })

  it('reads the last of repeated keys, values and slices alike', () => {
    const text = '[{"role":"user","content":"old","content":[{"type":"text","text":"new"}]}]'
    const [message] = parseHistory(text, 'anthropic-messages').messages
    expect(message?.blocks?.map(({ raw }) => raw)).toEqual(['{"type":"text","text":"new"}'])
  })

  it('reads system and tools of a request body, null and absent alike', () => {
    const body = parseHistory(
      '{"model":"m","system":[{"type":"text","text":"s"}],"tools":[{ "name":"t" }],"messages":[]}',
      'anthropic-messages',
    )
    expect(body.system?.raw).toBe('[{"type":"text","text":"s"}]')
    expect(body.tools?.raw).toBe('[{ "name":"t" }]')
    expect(parseHistory('{"messages":[],"tools":null}', 'openai-chat').tools).toBeNull()
  })

  it.each([
    ['7', ''],
    ['{"message":[]}', '/messages'],
    ['{"messages":{}}', '/messages'],
    ['[7]', '/messages/0'],
    ['[{"content":"a"}]', '/messages/0/role'],
    ['[{"role":"robot","content":"a"}]', '/messages/0/role'],
    ['[{"role":"user","content":7}]', '/messages/0/content'],
    ['[{"role":"user","content":["a"]}]', '/messages/0/content/0'],
    ['[{"role":"user","content":[{"type":"text"}]}]', '/messages/0/content/0/text'],
    ['[{"role":"assistant","tool_calls":{}}]', '/messages/0/tool_calls'],
    ['[{"role":"assistant","tool_calls":[{"id":"a"}]}]', '/messages/0/tool_calls/0/function'],
    ['[{"role":"assistant","tool_calls":[{"id":1,"function":{"name":"a"}}]}]', '/messages/0/tool_calls/0/id'],
    ['[{"role":"tool","tool_call_id":3,"content":"a"}]', '/messages/0/tool_call_id'],
  ])('refuses %s as OpenAI chat and points at %s', (text, pointer) => {
    const root = text === '7' ? '/messages' : pointer
    expect(pointerOf(text, 'openai-chat')).toBe(root)
  })

  it.each([
    ['[{"role":"tool","content":"a"}]', '/messages/0/role'],
    ['[{"role":"user"}]', '/messages/0/content'],
    ['[{"role":"user","content":null}]', '/messages/0/content'],
    ['[{"role":"assistant","content":[{"type":"tool_use","name":"a","input":{}}]}]', '/messages/0/content/0/id'],
    ['[{"role":"user","content":[{"type":"tool_result"}]}]', '/messages/0/content/0/tool_use_id'],
    ['{"system":7,"messages":[]}', '/system'],
    ['{"tools":{},"messages":[]}', '/tools'],
  ])('refuses %s as Anthropic messages and points at %s', (text, pointer) => {
    expect(pointerOf(text, 'anthropic-messages')).toBe(pointer)
  })
})

describe('hashHistory', () => {
  it('changes with any byte of messages, system or tools, and with where a message ends', () => {
    const texts = [
      '[{"role":"user","content":"a"}]',
      '[{"role":"user", "content":"a"}]',
      '[{"role":"user","content":"a"},{"role":"user","content":"a"}]',
      '{"system":"s","messages":[{"role":"user","content":"a"}]}',
      '{"tools":[],"messages":[{"role":"user","content":"a"}]}',
    ]
    const hashes = texts.map((text) => hashHistory(parseHistory(text, 'anthropic-messages')))
    expect(new Set(hashes).size).toBe(texts.length)
    const same = '{"messages": [{"role":"user","content":"a"}] }'
    expect(hashHistory(parseHistory(same, 'anthropic-messages'))).toBe(hashes[0])
  })
})
