/**
 * One damage each. The histories are written by us after the shapes of ../shared/cases 01, 02, 07, 12 and 27.
 */
import { describe, expect, it } from 'vitest'
import type { HistoryFormat } from '../../../../src/protocol/history.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../../src/protocol/render-messages.ts'
import { CLOSING_TEXT } from '../../../../src/protocol/repair/place-results.ts'
import { type RepairOptions, repairHistory } from '../../../../src/protocol/repair/repair-history.ts'

const use = (id: string): string => `{"type":"tool_use","id":"${id}","name":"t","input":{"n":1.0}}`
const result = (id: string, more = ''): string => `{"type":"tool_result","tool_use_id":"${id}","content":"r"${more}}`
const text = (words: string): string => `{"type":"text", "text":"${words}"}`
const thinking = (words: string): string => `{"type":"thinking","thinking":"${words}","signature":"s"}`
const A = (...blocks: readonly string[]): string => `{"role":"assistant","content":[${blocks}]}`
const U = (...blocks: readonly string[]): string => `{"role":"user","content":[${blocks}]}`
const GO = '{"role":"user","content":"go"}'
const WAIT = '{"role":"user","content":"wait","x":1.0}'

const call = (...ids: readonly string[]): string =>
  `{"role":"assistant","content":null,"tool_calls":[${ids.map((id) => `{"id":"${id}","type":"function","function":{"name":"t","arguments":"{}"}}`)}]}`
const tool = (id: string): string => `{"role":"tool","tool_call_id":"${id}","content":"r","z":1.0}`

function repair(
  list: readonly string[],
  options: RepairOptions & { readonly format?: HistoryFormat; readonly model?: string } = {},
): { readonly out: string; readonly changes: readonly string[]; readonly remaining: readonly string[] } {
  const format = options.format ?? 'anthropic-messages'
  const field = format === 'openai-responses' ? 'input' : format === 'gemini-contents' ? 'contents' : 'messages'
  const model = options.model === undefined ? '' : `"model":"${options.model}",`
  const done = repairHistory(parseHistory(`{${model}"${field}":[${list}]}`, format), options)
  return {
    out: renderMessages(done.history.messages),
    changes: done.changes.map(({ rule, pointer, action }) => `${rule} ${pointer} ${action}`),
    remaining: done.remaining.filter(({ advisory }) => advisory !== true).map(({ rule }) => rule),
  }
}
const listOf = (...messages: readonly string[]): string => `[${messages.join(',')}]`

describe('a call that was never answered', () => {
  it('is dropped, and what the message says beside it stays', () => {
    const done = repair([GO, A(thinking('hm'), text('now'), use('dead')), WAIT])
    expect(done.out).toBe(listOf(GO, A(thinking('hm'), text('now')), WAIT))
    expect(done.changes).toEqual(['A1 /messages/1/content/2 dropped'])
  })
  it('takes its message with it when nothing but reasoning is left', () => {
    expect(repair([GO, A(thinking('hm'), use('dead')), WAIT]).out).toBe(listOf(GO, WAIT))
    expect(repair([GO, call('dead'), WAIT], { format: 'openai-chat' }).out).toBe(listOf(GO, WAIT))
  })
  it('is closed by one result that says so, before what the user said next', () => {
    const closing = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"dead","is_error":true,"content":"${CLOSING_TEXT}"}]}`
    const done = repair([GO, A(use('dead')), WAIT], { danglingCalls: 'close' })
    expect(done.out).toBe(listOf(GO, A(use('dead')), closing, WAIT))
    expect(done.changes).toEqual(['A1 /messages/1/content/0 closed'])
  })
  it('is closed inside the message that holds the other results of its batch', () => {
    const done = repair([GO, A(use('a'), use('b')), U(result('a'), text('wait'))], { danglingCalls: 'close' })
    const closing = `{"type":"tool_result","tool_use_id":"b","is_error":true,"content":"${CLOSING_TEXT}"}`
    expect(done.out).toBe(listOf(GO, A(use('a'), use('b')), U(result('a'), closing, text('wait'))))
  })
  it('of a parallel batch goes alone', () => {
    const done = repair([GO, call('a', 'b', 'c'), tool('b'), WAIT], { format: 'openai-chat' })
    expect(done.out).toBe(listOf(GO, call('b'), tool('b'), WAIT))
    expect(done.changes).toEqual(['C1 /messages/1/tool_calls/0 dropped', 'C1 /messages/1/tool_calls/2 dropped'])
  })
  it('leaves text without an empty list of calls', () => {
    const said = call('a').replace('null', '"said"')
    expect(repair([GO, said, WAIT], { format: 'openai-chat' }).out).toBe(
      listOf(GO, '{"role":"assistant","content":"said"}', WAIT),
    )
  })
  it('goes with the reasoning item that led to it, and with no other', () => {
    const item = (type: string, more: string): string => `{"type":"${type}",${more}}`
    const fn = (id: string): string =>
      item('function_call', `"id":"fc_${id}","call_id":"${id}","name":"t","arguments":"{}"`)
    const output = item('function_call_output', '"call_id":"a","output":"ok"')
    const ask = '{"type":"message","role":"user","content":"go"}'
    const [first, second] = [
      item('reasoning', '"id":"rs_1","summary":[]'),
      item('reasoning', '"id":"rs_2","summary":[]'),
    ]
    const list = [ask, first, fn('a'), second, fn('b'), output, ask]
    const dropped = repair(list, { format: 'openai-responses' })
    expect(dropped.out).toBe(listOf(ask, first, fn('a'), output, ask))
    const closed = repair(list, { format: 'openai-responses', danglingCalls: 'close' })
    const closing = `{"type":"function_call_output","call_id":"b","output":"${CLOSING_TEXT}"}`
    expect(closed.out).toBe(listOf(ask, first, fn('a'), second, fn('b'), output, closing, ask))
  })
  it('in flight is left alone', () => {
    const done = repair([GO, A(use('a'), use('b')), U(result('b'))])
    expect(done).toMatchObject({ changes: [], out: listOf(GO, A(use('a'), use('b')), U(result('b'))) })
  })
})

describe('results', () => {
  it('that answer nothing, and second ones, are dropped and the first wins', () => {
    const done = repair([GO, tool('x'), call('a'), tool('a'), tool('a'), WAIT], { format: 'openai-chat' })
    expect(done.out).toBe(listOf(GO, call('a'), tool('a'), WAIT))
    expect(done.changes).toEqual(['C2 /messages/1 dropped', 'C2 /messages/4 dropped'])
  })
  it('behind words of the user move directly behind their call, the words stay in order', () => {
    const done = repair([GO, call('a', 'b'), WAIT, tool('b'), GO, tool('a')], { format: 'openai-chat' })
    expect(done.out).toBe(listOf(GO, call('a', 'b'), tool('b'), tool('a'), WAIT, GO))
    expect(done.changes).toEqual(['C2 /messages/3 moved', 'C2 /messages/5 moved'])
  })
  it('come first in their Anthropic message', () => {
    expect(repair([GO, A(use('a'), use('b')), U(text('wait'), result('b'), text('more'), result('a'))]).out).toBe(
      listOf(GO, A(use('a'), use('b')), U(result('b'), result('a'), text('wait'), text('more'))),
    )
  })
  it('leave the message that they share with words of the user', () => {
    const odd = (message: string): string => message.replace('{"role"', '{"k":1.0,"role"')
    const done = repair([GO, A(use('a')), WAIT, odd(U(result('a'), text('more')))])
    expect(done.out).toBe(listOf(GO, A(use('a')), odd(U(result('a'))), WAIT, odd(U(text('more')))))
  })
  it('of Gemini calls stand in one content', () => {
    const fn = '{"functionCall":{"name":"t","args":{}},"thoughtSignature":"c2ln"}'
    const answer = (n: number): string => `{"functionResponse":{"name":"t","response":{"n":${n}}}}`
    const say = (role: string, ...parts: readonly string[]): string => `{"role":"${role}","parts":[${parts}]}`
    const ask = say('user', '{"text":"go"}')
    const done = repair([ask, say('model', fn, fn), say('user', answer(1)), ask, say('user', answer(2))], {
      format: 'gemini-contents',
    })
    expect(done.out).toBe(listOf(ask, say('model', fn, fn), say('user', answer(1), answer(2)), ask))
    expect(done.remaining).toEqual([])
  })
})

describe('a history that was cut in the middle of the work', () => {
  it('begins at the next turn of the user', () => {
    const done = repair([U(result('x')), A(use('a')), U(result('a')), A(text('done')), WAIT, A(text('ok')), GO])
    expect(done.out).toBe(listOf(WAIT, A(text('ok')), GO))
    expect(done.remaining).toEqual([])
  })
  it('keeps words of the user that share the first message with orphan results', () => {
    expect(repair([U(result('x'), text('and now?')), A(text('ok')), GO]).out).toBe(
      listOf(U(text('and now?')), A(text('ok')), GO),
    )
  })
  it('remains as it is when no turn of the user is left, and says so', () => {
    const done = repair([A(text('a')), A(text('b'))])
    expect(done).toMatchObject({ out: listOf(A(text('a')), A(text('b'))), remaining: ['A5'], changes: [] })
  })
})

describe('what says nothing', () => {
  it('goes: empty texts, empty messages, unsigned thinking', () => {
    const unsigned = '{"type":"thinking","thinking":"hm"}'
    const done = repair([U(text(' \\n'), text('go')), A(unsigned, text('a')), '{"role":"user","content":""}', GO])
    expect(done.out).toBe(listOf(U(text('go')), A(text('a')), GO))
    expect(done.changes).toEqual([
      'A8 /messages/0/content/0 dropped',
      'A8 /messages/2/content dropped',
      'A9 /messages/1/content/0 dropped',
    ])
  })
  it('half surrogate pairs alone become U+FFFD, whatever their spelling', () => {
    const raw = '{"role":"user","content":"a\\ud83d b\\ud83d\\ude00 \\\\ud83d \\"\\udE00\\u00e9"}'
    const mended = raw.replace('a\\ud83d', 'a\ufffd').replace('\\udE00', '\ufffd')
    expect(repair([raw]).out).toBe(`[${mended}]`)
  })
})

describe('tool-call ids', () => {
  it('that break the pattern or come again are renamed on both sides, the same way each time', () => {
    const list = [GO, A(use('a:1')), U(result('a:1')), A(use('a_1')), U(result('a_1')), A(use('a_1')), U(result('a_1'))]
    const done = repair(list)
    expect(done.out.match(/"(?:id|tool_use_id)":"[^"]*"/g)).toEqual(
      ['a_1_2', 'a_1', 'a_1_3'].flatMap((id) => [`"id":"${id}"`, `"tool_use_id":"${id}"`]),
    )
    expect(done.changes).toEqual(['A14 /messages/1/content/0 renamed', 'A3 /messages/5/content/0 renamed'])
    expect(repair(list)).toEqual(done)
  })
  it('of OpenAI are cut to what every host takes', () => {
    const done = repair([GO, call('x'.repeat(70)), tool('x'.repeat(70))], { format: 'openai-chat' })
    expect(done.out).toBe(listOf(GO, call('x'.repeat(40)), tool('x'.repeat(40))))
  })
  it('of a call in flight stay, and an earlier call makes way', () => {
    const done = repair([GO, A(use('a')), U(result('a')), A(use('a'))])
    expect(done.out).toBe(listOf(GO, A(use('a_2')), U(result('a_2')), A(use('a'))))
  })
})

describe('thinking that is bound to what came before', () => {
  const list = [
    GO,
    A(thinking('one'), use('a')),
    U(result('a')),
    A(use('dead')),
    WAIT,
    A(thinking('two'), text('ok')),
    GO,
  ]
  it('goes behind the repaired place when the model binds it, and stays before it', () => {
    const done = repair(list, { model: 'claude-opus-5-5' })
    expect(done.out).toBe(listOf(GO, A(thinking('one'), use('a')), U(result('a')), WAIT, A(text('ok')), GO))
    expect(done.changes).toEqual(['A1 /messages/3/content/0 dropped', 'A10 /messages/5/content/0 dropped'])
  })
  it('stays for other models', () => {
    expect(repair(list, { model: 'claude-sonnet-4-5' }).out).toContain(thinking('two'))
  })
})

describe('what is fine', () => {
  it('keeps its bytes around a repair', () => {
    const odd = '{ "role":"user" ,"content":"k","n":12345678901234567890 }'
    expect(repair([odd, A(use('dead')), WAIT, odd]).out).toBe(listOf(odd, WAIT, odd))
  })
  it('says where each message of the result stood', () => {
    const done = repairHistory(parseHistory(listOf(GO, A(use('dead')), WAIT), 'anthropic-messages'), {
      danglingCalls: 'close',
    })
    expect(done.origins).toEqual([0, 1, null, 2])
  })
})
