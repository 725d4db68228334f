import { describe, expect, it } from 'vitest'
import { convertHistory } from '../../../../src/protocol/convert/convert-history.ts'
import { FORMATS } from '../../../../src/protocol/formats.ts'
import { HISTORY_FORMATS, type HistoryFormat } from '../../../../src/protocol/history.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../../src/protocol/render-messages.ts'

const PNG = 'iVBORw0KGgo='

function convert(body: string, from: HistoryFormat, to: HistoryFormat) {
  const { history, losses } = convertHistory(parseHistory(body, from), to)
  return {
    history,
    losses,
    messages: history.messages.map(({ value }) => value),
    out: renderMessages(history.messages),
  }
}

describe('convertHistory', () => {
  it("puts the system prompt in the target's place, and later system texts in theirs", () => {
    const chat =
      '[{"role":"system","content":"be terse"},{"role":"user","content":"go"},{"role":"assistant","content":"ok"},{"role":"developer","content":"now loud"},{"role":"user","content":"more"}]'
    const anthropic = convert(chat, 'openai-chat', 'anthropic-messages')
    expect(anthropic.history.system?.value).toBe('be terse')
    expect(anthropic.messages[2]).toEqual({ role: 'system', content: 'now loud' })
    const body = JSON.stringify({
      system: [{ type: 'text', text: 'be terse' }],
      messages: [{ role: 'user', content: 'go' }],
    })
    expect(convert(body, 'anthropic-messages', 'openai-chat').messages[0]).toEqual({
      role: 'system',
      content: 'be terse',
    })
    expect(convert(body, 'anthropic-messages', 'gemini-contents').history.system?.value).toEqual({
      parts: [{ text: 'be terse' }],
    })
    expect(convert(body, 'anthropic-messages', 'openai-responses').history.system?.value).toBe('be terse')
  })

  it('keeps arguments as the text that they were, large integers and the order of keys included', () => {
    const args = '{"10":1.0,"9":12345678901234567890}'
    const call = (value: string): string =>
      `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":${value}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]`
    const chat = convert(call(args), 'anthropic-messages', 'openai-chat')
    expect(chat.messages[1]).toMatchObject({ tool_calls: [{ function: { arguments: args } }] })
    expect(convert(chat.out, 'openai-chat', 'anthropic-messages').out).toContain(`"input":${args}`)
    expect(convert(chat.out, 'openai-chat', 'gemini-contents').out).toContain(`"args":${args}`)
    expect(convert(chat.out, 'openai-chat', 'ai-sdk').out).toContain(`"input":${args}`)
  })

  it('puts arguments that are no JSON object into one, and says so', () => {
    const call = (args: string): string =>
      JSON.stringify([
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 't', arguments: args } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'r' },
      ])
    for (const args of ['ls -l', '[1]', '{"torn'])
      expect(convert(call(args), 'openai-chat', 'anthropic-messages').messages[1]).toMatchObject({
        content: [{ input: { input: args } }],
      })
    expect(convert(call('ls'), 'openai-chat', 'anthropic-messages').losses.join()).toContain(
      'arguments that are no JSON',
    )
    expect(convert(call(''), 'openai-chat', 'anthropic-messages')).toMatchObject({ losses: [] })
  })

  it('gives each of parallel calls without ids its own id and its own result', () => {
    const part = (field: string, value: unknown): unknown => ({ [field]: value })
    const contents = [
      { role: 'user', parts: [{ text: 'weather' }] },
      { role: 'model', parts: ['Oslo', 'Bergen'].map((city) => part('functionCall', { name: 'w', args: { city } })) },
      {
        role: 'user',
        parts: ['rain', 'sun'].map((output) => part('functionResponse', { name: 'w', response: { output } })),
      },
    ]
    const { messages } = convert(JSON.stringify(contents), 'gemini-contents', 'openai-chat')
    const [first, second] = ['call_0_0', 'call_0_1']
    expect(messages[1]).toMatchObject({ tool_calls: [{ id: first }, { id: second }] })
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: first, content: 'rain' },
      { role: 'tool', tool_call_id: second, content: 'sun' },
    ])
  })

  it('keeps ids that the target takes, and renames reused and odd ones on both sides', () => {
    const call = (id: string): readonly unknown[] => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 't', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: id, content: 'r' },
    ]
    const list = [{ role: 'user', content: 'go' }, ...['same', 'same', 'bash:0', 'same_2'].flatMap(call)]
    const { out } = convert(JSON.stringify(list), 'openai-chat', 'anthropic-messages')
    expect([...out.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id)).toEqual(['same', 'same_3', 'bash_0', 'same_2'])
    expect([...out.matchAll(/"tool_use_id":"([^"]*)"/g)].map(([, id]) => id)).toEqual([
      'same',
      'same_3',
      'bash_0',
      'same_2',
    ])
  })

  it('carries images where the target has a place for them, else their kind and a loss', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
    const body = JSON.stringify([
      { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'shot', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'here' }, image] }],
      },
    ])
    const chat = convert(body, 'anthropic-messages', 'openai-chat')
    expect(chat.messages[0]).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ],
    })
    expect(chat.messages[2]).toEqual({ role: 'tool', tool_call_id: 'a', content: 'here\n[image]' })
    expect(chat.losses).toEqual(['[image] of a tool message: this format takes text alone there'])
    for (const to of ['openai-responses', 'gemini-contents', 'ai-sdk'] as const)
      expect(convert(body, 'anthropic-messages', to).out.split(PNG).length).toBe(3)
  })

  it('leaves reasoning and what the provider runs itself behind, and names each', () => {
    const body = JSON.stringify({
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'server_tool_use', id: 'x', name: 'web_search', input: {} },
            { type: 'text', text: 'done' },
          ],
        },
      ],
    })
    const { messages, losses } = convert(body, 'anthropic-messages', 'openai-chat')
    expect(messages[1]).toEqual({ role: 'assistant', content: '[server tool use]\ndone' })
    expect(losses).toEqual([
      'the reasoning of a model call: it is bound to its provider',
      'a part of type server_tool_use: a description stands in its place',
      'the declaration of the tool web_search: its provider runs it',
    ])
  })

  it("carries the declarations of the client's tools from each form to each", () => {
    const schema = { type: 'object', properties: { p: { type: 'string' } } }
    const about = { description: 'reads', name: 'read' }
    const forms: Readonly<Record<HistoryFormat, unknown>> = {
      'openai-chat': [{ type: 'function', function: { ...about, parameters: schema } }],
      'openai-responses': [{ type: 'function', ...about, parameters: schema, strict: false }],
      'anthropic-messages': [{ ...about, input_schema: schema }],
      'gemini-contents': [{ functionDeclarations: [{ ...about, parametersJsonSchema: schema }] }],
      'ai-sdk': { read: { description: 'reads', inputSchema: schema } },
    }
    for (const from of HISTORY_FORMATS)
      for (const to of HISTORY_FORMATS) {
        const [field] = FORMATS[from].listFields
        const body = JSON.stringify({ tools: forms[from], [field]: [FORMATS[from].userMessage('go')] })
        const { history, losses } = convert(body, from, to)
        expect(history.tools?.value).toEqual(forms[to])
        expect(losses).toEqual([])
      }
    const custom = { tools: [{ type: 'custom', custom: { name: 'sh' } }], messages: [] }
    expect(convert(JSON.stringify(custom), 'openai-chat', 'anthropic-messages').history.tools?.value).toMatchObject([
      { name: 'sh', input_schema: { required: ['input'] } },
    ])
    const capitals = { type: 'OBJECT', properties: { type: { type: 'STRING', enum: ['A'] } } }
    const gemini = { tools: [{ functionDeclarations: [{ name: 'f', parameters: capitals }] }], contents: [] }
    expect(convert(JSON.stringify(gemini), 'gemini-contents', 'anthropic-messages').history.tools?.value).toEqual([
      { name: 'f', input_schema: { type: 'object', properties: { type: { type: 'string', enum: ['A'] } } } },
    ])
  })

  it('repairs what the source breaks and what the target alone refuses, and counts equal losses', () => {
    const greeting =
      '[{"role":"assistant","content":"hello"},{"role":"user","content":"go"},{"role":"assistant","content":" \\n"},{"role":"user","content":"on"}]'
    const { messages, losses } = convert(greeting, 'openai-chat', 'anthropic-messages')
    expect(messages.map((message) => message.content)).toEqual(['go', 'on'])
    expect(losses.join()).toContain('began in the middle')
    const dead = (id: string): string =>
      `{"role":"assistant","content":"a","tool_calls":[{"id":"${id}","type":"function","function":{"name":"t","arguments":"{}"}}]}`
    const closed = convert(
      `[{"role":"user","content":"go"},${dead('x')},{"role":"user","content":"on"}]`,
      'openai-chat',
      'ai-sdk',
    )
    expect(closed.messages[2]).toMatchObject({ role: 'tool', content: [{ output: { type: 'error-text' } }] })
  })

  it('leaves a call in flight open', () => {
    const body =
      '[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]}]'
    expect(convert(body, 'openai-chat', 'anthropic-messages')).toMatchObject({
      losses: [],
      messages: [{ role: 'user' }, { content: [{ type: 'tool_use', id: 'a' }] }],
    })
  })
})
