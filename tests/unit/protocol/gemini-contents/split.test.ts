import { describe, expect, it } from 'vitest'
import type { SplitHistory } from '../../../../src/protocol/history.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'

const split = (contents: readonly unknown[], body: object = {}): SplitHistory =>
  splitHistory(parseHistory(JSON.stringify({ ...body, contents }), 'gemini-contents'))

const user = (...parts: unknown[]): unknown => ({ role: 'user', parts })
const model = (...parts: unknown[]): unknown => ({ role: 'model', parts })
const call = (name: string, args: unknown, id?: string): unknown => ({ functionCall: { id, name, args } })
const answer = (name: string, response: unknown, id?: string): unknown => ({ functionResponse: { id, name, response } })

/** Arguments of each call beside what answered it. */
const pairs = ({ trajectory }: SplitHistory): readonly unknown[] =>
  trajectory.interactions.map(({ toolCalls, observations }) => [
    toolCalls.map((one) => one.arguments),
    observations.map(({ content }) => content),
  ])

describe('splitHistory on Gemini contents', () => {
  it('pairs calls without ids by name and then by order', () => {
    const history = split([
      user({ text: 'go' }),
      model(call('read', { p: 'a' }), call('weather', { c: 'Oslo' }), call('read', { p: 'b' })),
      user(answer('weather', { output: 'rain' }), answer('read', { output: 'AAA' }), answer('read', { output: 'BBB' })),
    ])
    expect(history.interactions.map(({ state }) => state)).toEqual(['answered'])
    expect(pairs(history)).toEqual([
      [
        ['{"p":"a"}', '{"c":"Oslo"}', '{"p":"b"}'],
        ['rain', 'AAA', 'BBB'],
      ],
    ])
  })

  it('lets ids win over position, and takes ids that a client made up for calls without one', () => {
    const withIds = split([
      user({ text: 'go' }),
      model(call('read', {}, 'k1'), call('read', {}, 'k2')),
      user(answer('read', { output: 'two' }, 'k2')),
    ])
    expect(withIds.trajectory.interactions[0]?.observations).toEqual([{ callId: 'k2', content: 'two', isError: false }])
    const madeUp = split([
      user({ text: 'go' }),
      model(call('read', {}), call('list', {})),
      user(answer('list', { output: 'L' }, 'list-17'), answer('read', { output: 'R' }, 'read-18')),
      model({ text: 'done' }),
    ])
    expect(madeUp.interactions.map(({ state }) => state)).toEqual(['answered', 'answered'])
  })

  it('pairs a response of another name only where one call is open', () => {
    const one = split([user({ text: 'go' }), model(call('ls', {})), user(answer('LS', { output: 'x' }))])
    expect(one.interactions[0]?.state).toBe('answered')
    const two = split([
      user({ text: 'go' }),
      model(call('ls', {}), call('cat', {})),
      user(answer('rm', { output: 'x' })),
    ])
    expect(two.items.map(({ kind }) => kind)).toEqual(['pinned', 'interaction', 'pinned'])
  })

  it('gives responses to the interaction and human text beside them to a user turn', () => {
    const history = split([
      user({ text: 'go' }),
      model(call('ls', {})),
      user(answer('ls', { output: 'x' }), { text: 'and hurry' }),
      model({ text: 'ok' }),
    ])
    expect(history.interactions[0]?.parts).toEqual([{ message: 1 }, { message: 2, blocks: [0, 1] }])
    expect(history.trajectory.turns).toMatchObject([{ before: 1, kind: 'user', text: 'and hurry' }])
  })

  it('takes neighbouring model contents as one model call, and role function as an answer', () => {
    const history = split([
      user({ text: 'go' }),
      model({ text: 'Hm.', thought: true, thoughtSignature: 'c2ln' }),
      model({ text: 'Listing.' }, call('ls', {})),
      { role: 'function', parts: [answer('ls', { output: 'x' })] },
    ])
    expect(history.trajectory.interactions).toMatchObject([
      { reasoning: 'Hm.', text: 'Listing.', toolCalls: [{ name: 'ls' }], observations: [{ content: 'x' }] },
    ])
    expect(history.interactions[0]?.parts).toEqual([{ message: 1 }, { message: 2 }, { message: 3 }])
  })

  it('reads snake_case and a content without a role', () => {
    const history = split(
      [
        { parts: [{ text: 'go' }] },
        model({ function_call: { name: 'ls', args: { n: 1 } }, thought_signature: 'c2ln' }),
        user({ function_response: { name: 'ls', response: { result: 'x' } } }),
      ],
      { system_instruction: { parts: [{ text: 'one' }, { text: 'two' }] } },
    )
    expect(history.trajectory).toMatchObject({ system: 'one\ntwo', task: 'go' })
    expect(pairs(history)).toEqual([[['{"n":1}'], ['x']]])
  })

  it.each([
    [{ output: 'x' }, 'x', false],
    [{ result: { n: 1 } }, '{"n":1}', false],
    [{ error: 'ENOENT' }, 'ENOENT', true],
    [{ output: 'x', error: null }, 'x', false],
    [{ output: 'x', error: '' }, 'x', false],
    [{ stdout: 'x', error: { code: 2 } }, '{"stdout":"x","error":{"code":2}}', true],
    [{ content: [{ type: 'text', text: 'from MCP' }], isError: true }, 'from MCP', true],
    [{}, '', false],
    ['no object', 'no object', false],
    [null, '', false],
  ])('reads the response %j', (response, content, isError) => {
    const history = split([user({ text: 'go' }), model(call('ls', {})), user(answer('ls', response))])
    expect(history.trajectory.interactions[0]?.observations).toEqual([{ callId: null, content, isError }])
  })

  it('reads media that stand beside a response', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
    const answered = { functionResponse: { name: 'shot', response: { output: 'taken' }, parts: [image] } }
    const history = split([user({ text: 'go' }), model(call('shot', {})), user(answered)])
    expect(history.trajectory.interactions[0]?.observations[0]?.content).toBe('taken\n[image]')
  })

  it('keeps large integers of arguments and responses as they are spelled', () => {
    const raw =
      '[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{ "n": 12345678901234567890 , "1":1.0}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output": {"n": 1.0 }}}}]}]'
    expect(pairs(splitHistory(parseHistory(raw, 'gemini-contents')))).toEqual([
      [['{"n":12345678901234567890,"1":1.0}'], ['{"n":1.0}']],
    ])
  })

  it('shows media as their kind and code that the provider ran as it is, and keeps such a call', () => {
    const history = split([
      user({ text: 'go' }, { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }),
      model(
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        { somethingNew: {} },
      ),
      user({ text: 'on' }),
      model({ text: 'ok' }),
    ])
    expect(history.trajectory.task).toBe('go\n[audio]')
    expect(history.trajectory.interactions[0]?.text).toBe('print(1)\n1\n[somethingNew]')
    expect(history.interactions[0]?.ineligible).toBe('opaque')
  })

  it.each([
    ['[{"role":"robot","parts":[]}]', '/contents/0/role'],
    ['[{"role":"user","parts":"hi"}]', '/contents/0/parts'],
    ['[{"role":"user","parts":["hi"]}]', '/contents/0/parts/0'],
    ['[{"role":"model","parts":[{"functionCall":{"args":{}}}]}]', '/contents/0/parts/0/functionCall/name'],
    ['[{"role":"user","parts":[{"text":5}]}]', '/contents/0/parts/0/text'],
  ])('refuses %s at %s', (text, pointer) => {
    expect(() => parseHistory(text, 'gemini-contents')).toThrow(
      expect.objectContaining({ code: 'history-malformed', details: { pointer } }),
    )
  })
})
