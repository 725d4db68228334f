import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import type { HistoryFormat, HistoryItem, SplitHistory } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { requireCompleteInteraction } from '../../../src/protocol/require-complete-interaction.ts'
import { type SplitOptions, splitHistory } from '../../../src/protocol/split-history.ts'

const split = (format: HistoryFormat, messages: readonly unknown[], options: SplitOptions = {}): SplitHistory =>
  splitHistory(parseHistory(JSON.stringify(messages), format), options)

/** `task 0`, `S0 1 2[0,1) answered newest`, ...: items with the messages they own. */
const outline = (history: SplitHistory): readonly string[] => history.items.map(describeItem)

function describeItem(item: HistoryItem): string {
  const parts = item.kind === 'interaction' ? item.interaction.parts : item.parts
  const where = parts
    .map(({ message, blocks }) => (blocks === undefined ? `${message}` : `${message}[${blocks[0]},${blocks[1]})`))
    .join(' ')
  if (item.kind === 'pinned') return `${item.reason} ${where}`
  if (item.kind === 'user-turn') return `user ${where}`
  if (item.kind === 'summary') return `summary ${item.start}-${item.end} ${where}`
  const { index, state, ineligible } = item.interaction
  return `S${index} ${where} ${state}${ineligible === null ? '' : ` ${ineligible}`}`
}

const user = (content: unknown): unknown => ({ role: 'user', content })
const text = (content: string): unknown => ({ type: 'text', text: content })
const use = (id: string, input: unknown = {}): unknown => ({ type: 'tool_use', id, name: 'read', input })
const result = (id: string, content: unknown = 'ok'): unknown => ({ type: 'tool_result', tool_use_id: id, content })
const says = (...content: unknown[]): unknown => ({ role: 'assistant', content })
const call = (...ids: string[]): unknown => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: `{"p":"${id}"}` } })),
})
const tool = (id: string, content: unknown = 'ok'): unknown => ({ role: 'tool', tool_call_id: id, content })

describe('splitHistory on OpenAI chat', () => {
  it('takes a batch of parallel calls and all its results, in any order, as one interaction', () => {
    const history = split('openai-chat', [
      { role: 'system', content: 'You audit.' },
      user('Check.'),
      call('a', 'b', 'c'),
      tool('b'),
      tool('c'),
      tool('a', 'a=1'),
      { role: 'assistant', content: 'fine' },
    ])
    expect(outline(history)).toEqual(['system 0', 'task 1', 'S0 2 3 4 5 answered', 'S1 6 answered newest'])
    const [first] = history.trajectory.interactions
    expect(first?.toolCalls.map(({ id, name, arguments: args }) => [id, name, args])).toEqual([
      ['a', 'read', '{"p":"a"}'],
      ['b', 'read', '{"p":"b"}'],
      ['c', 'read', '{"p":"c"}'],
    ])
    expect(first?.observations.map(({ callId }) => callId)).toEqual(['b', 'c', 'a'])
    expect(history.trajectory).toMatchObject({ system: 'You audit.', task: 'Check.', format: 'openai-chat' })
  })

  it('pairs reused ids with the nearest preceding unanswered call, and sets a duplicate result aside', () => {
    const history = split('openai-chat', [
      user('hello'),
      call('x'),
      tool('x', 'Ana'),
      call('x'),
      tool('x', '255'),
      tool('x', '255 (late copy)'),
    ])
    expect(outline(history)).toEqual(['task 0', 'S0 1 2 answered', 'S1 3 4 5 answered newest'])
    expect(
      history.trajectory.interactions.map(({ observations }) => observations.map(({ content }) => content)),
    ).toEqual([['Ana'], ['255']])
  })

  it('keeps a steering message out of the interaction that it interrupts', () => {
    const history = split('openai-chat', [
      user('go'),
      call('a'),
      user('and refunds'),
      tool('a'),
      { role: 'assistant', content: 'x' },
    ])
    expect(outline(history)).toEqual(['task 0', 'S0 1 3 answered', 'user 2', 'S1 4 answered newest'])
    expect(history.trajectory.turns).toMatchObject([{ before: 1, kind: 'user', text: 'and refunds' }])
  })

  it.each([
    ['a later assistant message', [call('a'), call('b'), tool('b')], 'S0 1 dead dead-call'],
    ['a later user turn', [call('a'), user('never mind')], 'S0 1 dead newest'],
    ['nothing', [call('a')], 'S0 1 in-flight in-flight'],
    ['only a part of the results', [call('a', 'b'), tool('b')], 'S0 1 2 in-flight in-flight'],
  ])('calls an unanswered call followed by %s what it is', (_, messages, expected) => {
    expect(outline(split('openai-chat', [user('go'), ...messages]))[1]).toBe(expected)
  })

  it('pins a result that answers nothing, and system messages wherever they stand', () => {
    const history = split('openai-chat', [
      user('go'),
      tool('zzz'),
      call('a'),
      tool('a'),
      { role: 'developer', content: 'be terse' },
    ])
    expect(outline(history)).toEqual(['task 0', 'opaque 1', 'S0 2 3 answered newest', 'system 4'])
    expect(history.trajectory.turns).toMatchObject([
      { before: 0, kind: 'context' },
      { before: 1, kind: 'context', text: 'be terse' },
    ])
  })

  it('reads legacy function calls and vendor reasoning', () => {
    const history = split('openai-chat', [
      user('go'),
      { role: 'assistant', content: null, reasoning_content: 'think', function_call: { name: 'ls', arguments: '{}' } },
      { role: 'function', name: 'ls', content: 'a b' },
    ])
    expect(history.trajectory.interactions).toMatchObject([
      { reasoning: 'think', toolCalls: [{ id: null, name: 'ls' }], observations: [{ content: 'a b' }] },
    ])
  })

  it('has no task header when the assistant speaks first', () => {
    const history = split('openai-chat', [
      { role: 'assistant', content: 'hi' },
      user('go'),
      { role: 'assistant', content: 'ok' },
    ])
    expect(outline(history)).toEqual(['S0 0 answered', 'user 1', 'S1 2 answered newest'])
    expect(history.trajectory.task).toBe('')
  })
})

describe('splitHistory on Anthropic messages', () => {
  it('gives the results of a mixed user message to the interaction and its text to a user turn after it', () => {
    const history = split('anthropic-messages', [
      user('go'),
      says(use('a'), use('b')),
      user([result('a', 'A'), result('b', [text('B1'), text('B2')]), text('and hurry'), { type: 'image', source: {} }]),
      says(text('ok')),
    ])
    expect(outline(history)).toEqual(['task 0', 'S0 1 2[0,2) answered', 'user 2[2,4)', 'S1 3 answered newest'])
    expect(history.trajectory.interactions[0]?.observations.map(({ content }) => content)).toEqual(['A', 'B1\nB2'])
    expect(history.trajectory.turns).toMatchObject([{ before: 1, kind: 'user', text: 'and hurry\n[image]' }])
  })

  it('reads thinking, error results and the input as its own text', () => {
    const raw =
      '[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"s"},{"type":"text","text":"V"},{"type":"tool_use","id":"a","name":"n","input":{ "n": 12345678901234567890 , "10":1.0, "9":"x y"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"no"}]}]'
    const [first] = splitHistory(parseHistory(raw, 'anthropic-messages')).trajectory.interactions
    expect(first).toMatchObject({ reasoning: 'T', text: 'V', observations: [{ content: 'no', isError: true }] })
    expect(first?.toolCalls[0]?.arguments).toBe('{"n":12345678901234567890,"10":1.0,"9":"x y"}')
  })

  it('collects results of one batch from two user messages', () => {
    const history = split('anthropic-messages', [
      user('go'),
      says(use('a'), use('b')),
      user([result('b')]),
      user([result('a')]),
    ])
    expect(outline(history)).toEqual(['task 0', 'S0 1 2 3 answered newest'])
  })

  it('pins a compaction block and keeps interactions with provider-side tools whole', () => {
    const history = split('anthropic-messages', [
      says({ type: 'compaction', content: 'earlier work' }, text('go on')),
      user('yes'),
      says({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, text('found')),
      says(text('done')),
    ])
    expect(outline(history)).toEqual([
      'opaque 0[0,1)',
      'S0 0[1,2) answered opaque',
      'user 1',
      'S1 2 answered opaque',
      'S2 3 answered newest',
    ])
    expect(history.trajectory.turns[0]).toMatchObject({ before: 0, kind: 'context', text: 'earlier work' })
    expect(history.trajectory.interactions[0]?.text).toBe('go on')
  })

  it('takes system from the request body', () => {
    const body = { system: [text('one'), text('two')], messages: [user('go')] }
    expect(splitHistory(parseHistory(JSON.stringify(body), 'anthropic-messages')).trajectory.system).toBe('one\ntwo')
  })
})

describe('splitHistory on summaries', () => {
  const summary = (range: string): string =>
    `<keepready-summary id="s1" interactions="${range}">\nfacts:\n- a\n</keepready-summary>`

  it.each([
    ['string', summary('0-5')],
    ['one text block', [text(summary('0-5'))]],
  ])('recognises a whole user message (%s)', (_, content) => {
    const history = split('anthropic-messages', [
      user('go'),
      user(content),
      says(text('x')),
      user('y'),
      says(text('z')),
    ])
    expect(outline(history)).toEqual(['task 0', 'summary 0-5 1', 'S5 2 answered', 'user 3', 'S6 4 answered newest'])
    expect(history.trajectory.turns[0]).toMatchObject({ before: 5, kind: 'summary', text: 'facts:\n- a' })
    expect(history.trajectory.task).toBe('go')
  })

  it.each([
    ['text around it', `see: ${summary('0-5')}`],
    ['an empty range', summary('5-5')],
    ['another summary inside', summary('0-5').replace('- a', summary('0-1'))],
    ['a second block', [text(summary('0-5')), text('and more')]],
  ])('takes %s as plain user text', (_, content) => {
    expect(outline(split('anthropic-messages', [user('go'), says(text('x')), user(content)]))[2]).toBe('user 2')
  })

  it('takes a range that lies before interactions already seen as plain user text', () => {
    expect(
      outline(split('openai-chat', [user('go'), { role: 'assistant', content: 'x' }, user(summary('0-1'))]))[2],
    ).toBe('user 2')
  })

  it('takes a summary inside a tool result as plain text', () => {
    const history = split('openai-chat', [user('go'), call('a'), tool('a', summary('0-5'))])
    expect(history.trajectory.interactions[0]?.observations[0]?.content).toBe(summary('0-5'))
  })
})

describe('pins', () => {
  const messages = [
    user('go'),
    call('a'),
    tool('a', 'needle'),
    call('b'),
    tool('b'),
    { role: 'assistant', content: 'x' },
  ]
  it.each([
    [{ toolNames: ['read'], patterns: [], callIds: [] }, ['pinned', 'pinned', 'newest']],
    [{ toolNames: [], patterns: ['needle'], callIds: [] }, ['pinned', null, 'newest']],
    [{ toolNames: [], patterns: [''], callIds: ['b'] }, [null, 'pinned', 'newest']],
  ])('%j make interactions ineligible', (pins, expected) => {
    const { interactions } = split('openai-chat', messages, { pins })
    expect(interactions.map(({ ineligible }) => ineligible)).toEqual(expected)
  })
})

describe('the identity of a split history', () => {
  it('is the id that is given, else the hash of the history', () => {
    expect(split('openai-chat', [user('go')], { id: 'session-1', file: 'log.json' }).trajectory).toMatchObject({
      id: 'session-1',
      group: 'session-1',
      domain: 'online',
      source: { file: 'log.json' },
    })
    const { trajectory } = split('openai-chat', [user('go')])
    expect(trajectory.id).toMatch(/^[0-9a-f]{64}$/)
    expect(trajectory.group).toBe(trajectory.id)
  })
})

describe('requireCompleteInteraction', () => {
  it('throws history-incomplete for a history without one, and accepts a single text answer', () => {
    const code = (messages: readonly unknown[]): string => {
      try {
        requireCompleteInteraction(split('openai-chat', messages))
      } catch (error) {
        if (error instanceof AppError) return error.code
      }
      return 'none'
    }
    expect(code([])).toBe('history-incomplete')
    expect(code([user('go'), call('a')])).toBe('history-incomplete')
    expect(code([user('go'), { role: 'assistant', content: 'ok' }])).toBe('none')
  })
})

describe('lone surrogates', () => {
  it('are replaced in the canonical text and kept in the raw slices', () => {
    const raw = '[{"role":"user","content":"a\\ud83d"},{"role":"assistant","content":"b\\ude00"}]'
    const history = splitHistory(parseHistory(raw, 'openai-chat'))
    expect(history.trajectory.task).toBe('a\ufffd')
    expect(history.trajectory.interactions[0]?.text).toBe('b\ufffd')
    expect(history.history.messages[0]?.raw).toContain('\\ud83d')
  })
})
