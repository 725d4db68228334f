import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const USER = '{"role":"user","content":"go"}'
const REASONING = (id: string): string => `{"type":"reasoning","id":"rs_${id}","summary":[]}`
const CALL = (id: string, own = ''): string =>
  `{"type":"function_call",${own}"call_id":"${id}","name":"f","arguments":"{}"}`
const OUTPUT = (id: string): string => `{"type":"function_call_output","call_id":"${id}","output":"out"}`
const SAID = (own = ''): string =>
  `{"type":"message",${own}"role":"assistant","content":[{"type":"output_text","text":"so"}]}`
const COMPACTION = '{"type":"compaction","id":"cmp_1","encrypted_content":"eA=="}'

function broken(items: readonly string[], more = ''): readonly string[] {
  return validateHistory(parseHistory(`{${more}"input":[${items}]}`, 'openai-responses')).map(
    ({ rule, pointer, advisory }) => `${rule} ${pointer}${advisory ? ' advisory' : ''}`,
  )
}

describe('the rules of OpenAI Responses', () => {
  it('let outputs come in any order and late, and a list begin and end with anything', () => {
    expect(broken([SAID(), USER, CALL('a'), CALL('b'), OUTPUT('b'), USER, SAID(), OUTPUT('a'), SAID()])).toEqual([])
  })

  it('report calls in flight as advisory, and calls that were given up as blocking', () => {
    expect(broken([USER, CALL('a'), CALL('b'), OUTPUT('a')])).toEqual(['R1 /input/2 advisory'])
    expect(broken([USER, CALL('a'), USER])).toEqual(['R1 /input/1'])
  })

  it('report a second output, and an output before its call', () => {
    expect(broken([USER, CALL('a'), OUTPUT('a'), OUTPUT('a')])).toEqual(['R2 /input/3'])
    expect(broken([USER, OUTPUT('a'), CALL('a'), OUTPUT('a')])).toEqual(['R2 /input/1'])
  })

  it('cannot tell of an output whose call may stand at the provider', () => {
    const orphan = [OUTPUT('a'), USER]
    expect(broken(orphan)).toEqual(['R2 /input/0'])
    expect(broken(orphan, '"previous_response_id":"resp_1",')).toEqual(['R2 /input/0 advisory'])
    expect(broken(orphan, '"conversation":{"id":"conv_1"},')).toEqual(['R2 /input/0 advisory'])
    expect(broken(['{"type":"item_reference","id":"fc_1"}', ...orphan])).toEqual(['R2 /input/1 advisory'])
    expect(broken([COMPACTION, ...orphan])).toEqual(['R2 /input/1 advisory'])
  })

  it('ask for the item that reasoning led to, directly behind it', () => {
    expect(broken([USER, REASONING('1'), USER, SAID()])).toEqual(['R3 /input/1'])
    expect(broken([USER, CALL('a'), REASONING('1'), OUTPUT('a'), USER])).toEqual(['R3 /input/2'])
    expect(broken([USER, REASONING('1')])).toEqual(['R3 /input/1'])
    expect(broken([USER, REASONING('1'), REASONING('2'), COMPACTION, SAID()])).toEqual([])
    expect(broken([USER, REASONING('1'), '{"type":"item_reference","id":"msg_1"}'])).toEqual([])
  })

  it('take the reasoning rule as advice with store:false', () => {
    const encrypted = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eA=="}'
    expect(broken([USER, encrypted, USER], '"store":false,')).toEqual(['R3 /input/1 advisory'])
  })

  it('advise on an item that is sent with its id while others of its type came with reasoning', () => {
    const first = [USER, REASONING('1'), CALL('a', '"id":"fc_1",'), OUTPUT('a')]
    expect(broken([...first, CALL('b', '"id":"fc_2",'), OUTPUT('b')])).toEqual(['R3 /input/4 advisory'])
    expect(broken([...first, CALL('b'), OUTPUT('b')])).toEqual([])
    expect(broken([...first, SAID('"id":"msg_1",')])).toEqual([])
    expect(
      broken([USER, REASONING('1'), CALL('a', '"id":"fc_1",'), CALL('b', '"id":"fc_2",'), OUTPUT('a'), OUTPUT('b')]),
    ).toEqual([])
  })

  it('advise on what store:false has lost', () => {
    const store = '"store":false,'
    expect(broken([USER, REASONING('1'), SAID()], store)).toEqual(['R4 /input/1 advisory'])
    expect(broken([USER, '{"type":"item_reference","id":"rs_1"}', SAID()], store)).toEqual(['R4 /input/1 advisory'])
    const shown = '{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"a"}]}'
    expect(broken([USER, shown, SAID()], store)).toEqual([])
    expect(broken([USER, REASONING('1'), SAID()])).toEqual([])
  })

  it('ask for a whole compaction, and for a trigger at the end', () => {
    expect(broken([USER, '{"type":"compaction","id":"cmp_1"}'])).toEqual(['R5 /input/1'])
    expect(broken([USER, COMPACTION, '{"type":"compaction_trigger"}'])).toEqual([])
    expect(broken(['{"type":"compaction_trigger"}', USER])).toEqual(['R5 /input/0'])
  })

  it('advise on empty texts wherever a message has them', () => {
    expect(broken([USER, '{"type":"message","role":"assistant","content":[]}'])).toEqual([
      'R7 /input/1/content advisory',
    ])
    expect(broken(['{"role":"user","content":[{"type":"input_text","text":""}]}'])).toEqual([
      'R7 /input/0/content/0 advisory',
    ])
  })
})
