import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const USER = '{"role":"user","content":"go"}'
const REASONING = (id: string): string => `{"type":"reasoning","id":"rs_${id}","summary":[]}`
const CALL = (id: string): string => `{"type":"function_call","call_id":"${id}","name":"f","arguments":"{}"}`
const OUTPUT = (id: string): string => `{"type":"function_call_output","call_id":"${id}","output":"out ${id}"}`
const SAID = '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]}'
const COMPACTION = '{"type":"compaction","id":"cmp_1","encrypted_content":"eA=="}'
const REFERENCE = '{"type":"item_reference","id":"rs_9"}'

/** Per item of the split: the interaction's number, state and why it is not eligible, or the kind; with the list items. */
function split(items: readonly string[], more = ''): readonly string[] {
  const history = parseHistory(`{${more}"input":[${items}]}`, 'openai-responses')
  return splitHistory(history).items.map((item) => {
    const { parts } = item.kind === 'interaction' ? item.interaction : item
    const at = parts.map(({ message }) => message).join(' ')
    if (item.kind !== 'interaction') return `${item.kind} [${at}]`
    const { index, state, ineligible } = item.interaction
    return `${index} ${state}${ineligible === null ? '' : ` ${ineligible}`} [${at}]`
  })
}

describe('the model calls of a list of Responses items', () => {
  it('are runs of reasoning, messages and calls with the outputs that answer them', () => {
    expect(split([USER, REASONING('1'), SAID, CALL('a'), OUTPUT('a'), REASONING('2'), SAID])).toEqual([
      'pinned [0]',
      '0 answered [1 2 3 4]',
      '1 answered newest [5 6]',
    ])
  })

  it('take outputs of parallel calls in any order, and after a word of the user', () => {
    expect(split([USER, CALL('a'), CALL('b'), OUTPUT('b'), USER, OUTPUT('a'), SAID])).toEqual([
      'pinned [0]',
      '0 answered [1 2 3 5]',
      'user-turn [4]',
      '1 answered newest [6]',
    ])
  })

  it('take an output that comes after the next call, and then stay as they are: it may hold two calls apart', () => {
    const items = [USER, CALL('b'), CALL('d'), OUTPUT('d'), CALL('a'), OUTPUT('b'), SAID, OUTPUT('a')]
    expect(split(items)).toEqual([
      'pinned [0]',
      '0 answered opaque [1 2 3 5]',
      '1 answered opaque [4 7]',
      '2 answered newest [6]',
    ])
  })

  it('pair a reused id with the newest batch that used it', () => {
    expect(split([USER, CALL('a'), USER, CALL('a'), OUTPUT('a'), USER])).toEqual([
      'pinned [0]',
      '0 dead dead-call [1]',
      'user-turn [2]',
      '1 answered newest [3 4]',
      'user-turn [5]',
    ])
  })

  it('go on after a compaction, which stays in its place with the call around it', () => {
    expect(split([USER, REASONING('1'), COMPACTION, CALL('a'), OUTPUT('a'), SAID, USER])).toEqual([
      'pinned [0]',
      '0 answered opaque [1 3 4]',
      'pinned [2]',
      '1 answered newest [5]',
      'user-turn [6]',
    ])
    expect(split([USER, CALL('a'), COMPACTION, OUTPUT('a'), SAID])).toEqual([
      'pinned [0]',
      '0 answered opaque [1 3]',
      'pinned [2]',
      '1 answered newest [4]',
    ])
    // Nothing is split by a compaction that stands between two calls.
    expect(split([USER, CALL('a'), OUTPUT('a'), COMPACTION, SAID, USER])).toEqual([
      'pinned [0]',
      '0 answered [1 2]',
      'pinned [3]',
      '1 answered newest [4]',
      'user-turn [5]',
    ])
  })

  it('do not wait for a call from before a compaction', () => {
    expect(split([USER, CALL('a'), USER, COMPACTION, SAID])).toEqual([
      'pinned [0]',
      '0 dead dead-call [1]',
      'user-turn [2]',
      'pinned [3]',
      '1 answered newest [4]',
    ])
  })

  it('stay as they are beside an item that stands for something unseen', () => {
    expect(split([USER, REFERENCE, CALL('a'), OUTPUT('a'), SAID, USER, SAID, '{"type":"odd"}', USER, SAID])).toEqual([
      'pinned [0]',
      'pinned [1]',
      '0 answered opaque [2 3]',
      '1 answered [4]',
      'user-turn [5]',
      '2 answered opaque [6]',
      'pinned [7]',
      'user-turn [8]',
      '3 answered newest [9]',
    ])
  })

  it('stay as they are where the provider holds what came before', () => {
    const items = [USER, CALL('a'), OUTPUT('a'), SAID]
    expect(split(items, '"previous_response_id":"resp_1",')).toContain('0 answered opaque [1 2]')
    expect(split(items, '"previous_response_id":null,')).toContain('0 answered [1 2]')
  })

  it('hold hosted tools with what these gave', () => {
    const search = '{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}'
    const history = parseHistory(`[${USER},${REASONING('1')},${search},${SAID},${USER}]`, 'openai-responses')
    expect(splitHistory(history).trajectory.interactions).toMatchObject([
      { actor: null, toolCalls: [{ name: 'web_search' }], observations: [{ callId: 'ws_1' }], text: 'so' },
    ])
  })

  it('are named by no tool: the name of a call item is not who speaks', () => {
    const history = parseHistory(`[${USER},${CALL('a')},${OUTPUT('a')}]`, 'openai-responses')
    expect(splitHistory(history).trajectory.interactions[0]?.actor).toBeNull()
  })
})

describe('shared cases', () => {
  const read = (name: string): ReturnType<typeof splitHistory> => {
    const { input }: { readonly input: unknown } = JSON.parse(readFileSync(sharedPath('cases', `${name}.json`), 'utf8'))
    return splitHistory(parseHistory(JSON.stringify(input), 'openai-responses'))
  }
  itWithShared('11: reasoning and its call are one interaction', () => {
    const { history, interactions } = read('11-responses-reasoning-item-pairing')
    expect(interactions.map(({ parts }) => parts.map(({ message }) => message))).toEqual([[1, 2, 3], [4, 5, 6], [7]])
    expect(validateHistory(history)).toEqual([])
  })
  itWithShared('12: the call without output is found, the other one is paired', () => {
    const { history, trajectory } = read('12-responses-call-without-output')
    expect(trajectory.interactions[0]?.observations.map(({ callId }) => callId)).toEqual(['call_x1'])
    expect(validateHistory(history).map(({ rule, pointer }) => `${rule} ${pointer}`)).toEqual(['R1 /items/3'])
  })
})
