import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { readSegments } from '../../../../src/protocol/read-segments.ts'
import type { Segment } from '../../../../src/protocol/segment.ts'

function segmentsOf(item: string): readonly Omit<Segment, 'pointer' | 'block'>[] {
  const history = parseHistory(`[${item}]`, 'openai-responses')
  const [message] = history.messages
  if (message === undefined) throw new Error('no item')
  return readSegments(history, message, 0).map(({ pointer, block, ...rest }) => rest)
}

const roleOf = (item: string): unknown => parseHistory(`[${item}]`, 'openai-responses').messages[0]?.role

function pointerOf(text: string): unknown {
  try {
    parseHistory(text, 'openai-responses')
  } catch (error) {
    if (error instanceof AppError && error.code === 'history-malformed') return error.details.pointer
    throw error
  }
  return 'accepted'
}

describe('an item of OpenAI Responses', () => {
  it.each([
    ['{"role":"user","content":"a"}', 'user'],
    ['{"type":"message","role":"developer","content":"a"}', 'system'],
    ['{"type":"message","role":"assistant","content":[]}', 'assistant'],
    ['{"type":"reasoning","summary":[]}', 'assistant'],
    ['{"type":"web_search_call","id":"ws_1"}', 'assistant'],
    ['{"type":"compaction","encrypted_content":"x"}', 'assistant'],
    ['{"type":"custom_tool_call_output","call_id":"a","output":""}', 'tool'],
    ['{"type":"item_reference","id":"rs_1"}', 'opaque'],
    ['{"id":"rs_1"}', 'opaque'],
    ['{"type":"mcp_approval_response","approval_request_id":"a","approve":true}', 'opaque'],
    ['{"type":"compaction_trigger"}', 'opaque'],
    ['{"type":"telepathy"}', 'opaque'],
    ['{"type":"telepathy_call"}', 'assistant'],
  ])('%s is of role %s', (item, role) => {
    expect(roleOf(item)).toBe(role)
  })

  it('gives text, refusals and media of a message, each with its block', () => {
    const text =
      '[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://x/y.png","detail":"low"},{"type":"input_file","file_id":"file-1"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"},{"type":"refusal","refusal":"no"}]}]'
    const history = parseHistory(text, 'openai-responses')
    const all = history.messages.flatMap((message, number) => readSegments(history, message, number))
    expect(all.map(({ kind, block, pointer }) => [kind, block, pointer])).toEqual([
      ['text', 0, '/input/0/content/0'],
      ['opaque', 1, '/input/0/content/1'],
      ['opaque', 2, '/input/0/content/2'],
      ['text', 0, '/input/1/content/0'],
      ['text', 1, '/input/1/content/1'],
    ])
    expect(all[1]).toMatchObject({ media: { kind: 'image', detail: 'low' } })
    expect(all[2]).toMatchObject({ media: { kind: 'file', source: { kind: 'id', id: 'file-1' } } })
    expect(all[4]).toMatchObject({ text: 'no' })
  })

  it('gives the visible part of reasoning and nothing of what is encrypted', () => {
    expect(segmentsOf('{"type":"reasoning","id":"r","summary":[],"encrypted_content":"c2VjcmV0"}')).toEqual([
      { kind: 'reasoning', text: '' },
    ])
    const shown =
      '{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"content":[{"type":"reasoning_text","text":"c"}]}'
    expect(segmentsOf(shown)).toEqual([{ kind: 'reasoning', text: 'a\nb\nc' }])
  })

  it('gives calls with arguments as they came: a string, free text, or the text of a value', () => {
    expect(
      segmentsOf('{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{ \\"n\\": 1.0 }"}'),
    ).toEqual([{ kind: 'call', id: 'a', name: 'f', arguments: '{ "n": 1.0 }' }])
    expect(segmentsOf('{"type":"custom_tool_call","call_id":"a","name":"patch","input":"*** Begin"}')).toEqual([
      { kind: 'call', id: 'a', name: 'patch', arguments: '*** Begin' },
    ])
    expect(
      segmentsOf('{"type":"shell_call","call_id":"a","action":{ "commands": ["ls"], "n": 12345678901234567890 }}'),
    ).toEqual([{ kind: 'call', id: 'a', name: 'shell', arguments: '{"commands":["ls"],"n":12345678901234567890}' }])
    expect(segmentsOf('{"type":"program","call_id":"a","code":"f()"}')).toEqual([
      { kind: 'call', id: 'a', name: 'program', arguments: 'f()' },
    ])
  })

  it.each([
    ['"text"', 'text', false, 0],
    ['[{"type":"input_text","text":"a"},{"type":"input_image","file_id":"file-1"}]', 'a\n[input image]', false, 1],
    ['{"content":"broken","success":false}', 'broken', true, 0],
    ['{"type":"computer_screenshot","image_url":"data:image/png;base64,iVBORw0KGgo="}', '[screenshot]', false, 1],
    [
      '[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]',
      '[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]',
      false,
      0,
    ],
    ['{ "rows": 1.0 }', '{"rows":1.0}', false, 0],
    ['null', '', false, 0],
  ])('reads the output %s', (output, content, isError, media) => {
    const [result] = segmentsOf(`{"type":"function_call_output","call_id":"a","output":${output}}`)
    expect(result).toMatchObject({ kind: 'result', id: 'a', content, isError })
    expect(result !== undefined && 'media' in result && Array.isArray(result.media) ? result.media.length : -1).toBe(
      media,
    )
  })

  it('marks a patch that failed', () => {
    const item = '{"type":"apply_patch_call_output","call_id":"a","status":"failed","output":"no such file"}'
    expect(segmentsOf(item)).toMatchObject([{ kind: 'result', content: 'no such file', isError: true }])
  })

  it('gives a hosted tool as a call with its result, and an approved MCP call as opaque', () => {
    const mcp = '{"type":"mcp_call","id":"mcp_1","server_label":"s","name":"roll","arguments":"{}","output":"4"}'
    expect(segmentsOf(mcp)).toMatchObject([
      { kind: 'call', id: 'mcp_1', name: 'roll', arguments: '{}' },
      { kind: 'result', id: 'mcp_1', content: '4', isError: false },
    ])
    expect(segmentsOf(mcp.replace('"output":"4"', '"error":"timeout"'))).toMatchObject([
      {},
      { content: 'timeout', isError: true },
    ])
    expect(segmentsOf(mcp.replace('"output"', '"approval_request_id":"a","output"'))).toMatchObject([
      { kind: 'opaque' },
    ])
    const code =
      '{"type":"code_interpreter_call","id":"ci_1","code":"print(1)","outputs":[{"type":"logs","logs":"1"},{"type":"image","url":"https://x/y.png"}]}'
    expect(segmentsOf(code)).toMatchObject([
      { name: 'code_interpreter', arguments: 'print(1)' },
      { content: '1\n[image]', media: [{ kind: 'image' }] },
    ])
    const found =
      '{"type":"file_search_call","id":"fs_1","queries":["q"],"results":[{"filename":"a.txt","text":"b"},{"file_id":"file-1"}]}'
    expect(segmentsOf(found)).toMatchObject([{ arguments: '{"queries":["q"]}' }, { content: 'a.txt: b\n' }])
  })

  it('keeps a generated image as a medium, and a compaction as nothing that has text', () => {
    expect(segmentsOf('{"type":"image_generation_call","id":"ig_1","result":"iVBORw0KGgo="}')).toMatchObject([
      { kind: 'opaque', media: { kind: 'image', source: { kind: 'base64' } } },
    ])
    expect(segmentsOf('{"type":"compaction_summary","encrypted_content":"eA=="}')).toEqual([
      { kind: 'opaque', type: 'compaction', text: '[compaction]', media: null },
    ])
  })

  it.each([
    ['[7]', '/input/0'],
    ['{"items":[{}]}', '/items/0'],
    ['[{"type":7}]', '/input/0'],
    ['[{"type":"message","role":"narrator","content":"a"}]', '/input/0/role'],
    ['[{"role":"user"}]', '/input/0/content'],
    ['[{"role":"user","content":["a"]}]', '/input/0/content/0'],
    ['[{"role":"user","content":[{"type":"input_text"}]}]', '/input/0/content/0/text'],
    ['[{"type":"function_call","name":"f"}]', '/input/0/call_id'],
    ['[{"type":"function_call","call_id":"a","name":7}]', '/input/0/name'],
    ['[{"type":"function_call_output","output":"a"}]', '/input/0/call_id'],
    ['{"output":3}', '/output'],
    ['{"messages":[]}', '/input'],
  ])('%s is refused with the pointer %s', (text, pointer) => {
    expect(pointerOf(text)).toBe(pointer)
  })

  it('reads a string input as the words of the user', () => {
    const history = parseHistory('{"model":"m","instructions":"be brief","input":"hi \\u00e9"}', 'openai-responses')
    expect(history.messages.map(({ role, value }) => [role, value.content])).toEqual([['user', 'hi é']])
    expect([history.listField, history.system?.value, history.request.model]).toEqual(['input', 'be brief', 'm'])
  })
})
