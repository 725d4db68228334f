import { describe, expect, it } from 'vitest'
import { type CutPolicy, readyByPolicy } from '../../../src/compaction/cut-policy.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'

const user = (text: string) => ({ role: 'user', content: text })
const call = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'ls', arguments: '{}' } })),
})
const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' })
const ready = (messages: readonly unknown[], policy: CutPolicy): readonly number[] => [
  ...readyByPolicy(splitHistory(parseHistory(JSON.stringify(messages), 'openai-chat')), policy),
]
//       0           1           2          3             4          5           6          7                8
const LIST = [user('go'), call('a'), tool('a'), call('b', 'c'), tool('c'), tool('b'), user('now'), call('d'), tool('d')]

describe('readyByPolicy', () => {
  it('moves a cut inside an interaction back to its beginning', () => {
    expect(ready(LIST, { kind: 'keep-last-messages', count: 3 })).toEqual([0, 1])
    for (const count of [4, 5, 6]) expect(ready(LIST, { kind: 'keep-last-messages', count })).toEqual([0])
    expect(ready(LIST, { kind: 'keep-last-messages', count: 99 })).toEqual([])
  })
  it('never replaces the newest interaction', () => {
    expect(ready(LIST, { kind: 'keep-last-messages', count: 0 })).toEqual([0, 1])
    expect(ready(LIST, { kind: 'keep-last-interactions', count: 0 })).toEqual([0, 1])
    expect(ready(LIST, { kind: 'keep-last-interactions', count: 2 })).toEqual([0])
  })
  it('drops the oldest whole interactions until few enough messages would be left', () => {
    expect(ready(LIST, { kind: 'drop-oldest-until', maxMessages: 8 })).toEqual([0])
    expect(ready(LIST, { kind: 'drop-oldest-until', maxMessages: 5 })).toEqual([0, 1])
    expect(ready(LIST, { kind: 'drop-oldest-until', maxMessages: 9 })).toEqual([])
  })
  it('cuts at the newest user message that stands between no call and its result', () => {
    expect(ready(LIST, { kind: 'cut-at-user-message' })).toEqual([0, 1])
    const steered = [user('go'), call('a'), tool('a'), call('b'), user('and this'), tool('b'), call('c'), tool('c')]
    expect(ready(steered, { kind: 'cut-at-user-message' })).toEqual([])
  })
})
