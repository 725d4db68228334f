import { describe, expect, it } from 'vitest'
import type { SplitHistory } from '../../../../src/protocol/history.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'

const split = (messages: readonly unknown[], body: object = {}): SplitHistory =>
  splitHistory(parseHistory(JSON.stringify({ ...body, messages }), 'ai-sdk'))

const GO = { role: 'user', content: 'go' }
const says = (...content: unknown[]): unknown => ({ role: 'assistant', content })
const tool = (...content: unknown[]): unknown => ({ role: 'tool', content })
const call = (id: string, more: object = {}): unknown => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'run',
  input: { n: 1 },
  ...more,
})
const result = (id: string, output: unknown): unknown => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'run',
  output,
})

describe('splitHistory on AI SDK messages', () => {
  it('takes a batch with its results in several tool messages as one interaction', () => {
    const history = split([
      GO,
      says({ type: 'reasoning', text: 'T' }, { type: 'text', text: 'V' }, call('a'), call('b')),
      tool(result('b', { type: 'json', value: { t: 3 } })),
      tool(result('a', { type: 'error-text', value: 'no' })),
      says({ type: 'text', text: 'done' }),
    ])
    expect(history.interactions.map(({ parts, state }) => [parts.map(({ message }) => message), state])).toEqual([
      [[1, 2, 3], 'answered'],
      [[4], 'answered'],
    ])
    expect(history.trajectory.interactions[0]).toMatchObject({
      reasoning: 'T',
      text: 'V',
      toolCalls: [
        { id: 'a', name: 'run', arguments: '{"n":1}' },
        { id: 'b', name: 'run', arguments: '{"n":1}' },
      ],
      observations: [
        { callId: 'b', content: '{"t":3}', isError: false },
        { callId: 'a', content: 'no', isError: true },
      ],
    })
  })

  it.each([
    [{ type: 'text', value: 'x' }, 'x', false],
    [{ type: 'error-json', value: { code: 1 } }, '{"code":1}', true],
    [{ type: 'execution-denied', reason: 'not now' }, 'not now', true],
    [{ type: 'execution-denied' }, '[execution denied]', true],
    [
      {
        type: 'content',
        value: [
          { type: 'text', text: 'x' },
          { type: 'image-url', url: 'https://e.x/i.png' },
        ],
      },
      'x\n[image-url]',
      false,
    ],
    ['bare', 'bare', false],
  ])('reads the output %j', (output, content, isError) => {
    const history = split([GO, says(call('a')), tool(result('a', output))])
    expect(history.trajectory.interactions[0]?.observations).toEqual([{ callId: 'a', content, isError }])
  })

  it('reads what older versions spelled differently', () => {
    const history = split([
      GO,
      says({ type: 'tool-call', toolCallId: 'a', toolName: 'run', args: { big: 1 } }),
      tool({ type: 'tool-result', toolCallId: 'a', toolName: 'run', result: { ok: true }, isError: true }),
    ])
    expect(history.trajectory.interactions[0]).toMatchObject({
      toolCalls: [{ arguments: '{"big":1}' }],
      observations: [{ content: '{"ok":true}', isError: true }],
    })
  })

  it('pairs tools that the provider ran inside the assistant message', () => {
    const history = split([
      GO,
      says(call('a', { providerExecuted: true }), result('a', { type: 'text', value: 'hit' }), {
        type: 'text',
        text: 'Found.',
      }),
    ])
    expect(history.trajectory.interactions).toMatchObject([{ text: 'Found.', observations: [{ content: 'hit' }] }])
  })

  it('keeps an approval with the call that waits for it, whether its result has come or not', () => {
    const messages = [
      GO,
      says(call('a'), { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'a' }),
      tool({ type: 'tool-approval-response', approvalId: 'p', approved: false, reason: 'too risky' }),
    ]
    const waiting = split(messages)
    expect(waiting.interactions).toMatchObject([{ state: 'in-flight', parts: [{ message: 1 }, { message: 2 }] }])
    const done = split([
      ...messages,
      tool(result('a', { type: 'text', value: 'x' })),
      says({ type: 'text', text: 'ok' }),
    ])
    expect(done.interactions[0]).toMatchObject({ state: 'answered', ineligible: 'opaque' })
    expect(done.trajectory.interactions[0]?.text).toContain('denied: too risky')
    expect(done.trajectory.turns).toEqual([])
  })

  it('takes no tool message for a turn of the user', () => {
    const history = split([GO, says(call('a')), tool(), tool(result('a', { type: 'text', value: 'x' }))])
    expect(history.interactions[0]).toMatchObject({
      state: 'answered',
      parts: [{ message: 1 }, { message: 2 }, { message: 3 }],
    })
    const orphans = split([GO, tool(), { role: 'tool', content: 'lost' }])
    expect(orphans.items.map((item) => (item.kind === 'pinned' ? item.reason : item.kind))).toEqual([
      'task',
      'opaque',
      'opaque',
    ])
  })

  it('reads system, and tools as a map, from the options of streamText', () => {
    expect(split([GO], { system: 'be brief', tools: { run: {} } }).trajectory.system).toBe('be brief')
    expect(split([GO], { system: { role: 'system', content: 'be brief' } }).trajectory.system).toBe('be brief')
    expect(
      split([GO], {
        instructions: [
          { role: 'system', content: 'a' },
          { role: 'system', content: 'b' },
        ],
      }).trajectory.system,
    ).toBe('a\nb')
    const prompt = splitHistory(parseHistory('{"prompt":"just this"}', 'ai-sdk'))
    expect(prompt.trajectory.task).toBe('just this')
  })

  it.each([
    ['[{"role":"data","content":""}]', '/messages/0/role'],
    ['[{"role":"user"}]', '/messages/0/content'],
    ['[{"role":"user","content":[{"text":"x"}]}]', '/messages/0/content/0'],
    ['[{"role":"assistant","content":[{"type":"tool-call","toolName":"x"}]}]', '/messages/0/content/0/toolCallId'],
  ])('refuses %s at %s', (text, pointer) => {
    expect(() => parseHistory(text, 'ai-sdk')).toThrow(
      expect.objectContaining({ code: 'history-malformed', details: { pointer } }),
    )
  })
})
