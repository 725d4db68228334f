import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { isPrefixBound, stripBoundThinking } from '../../../src/protocol/thinking-binding.ts'

describe('isPrefixBound', () => {
  it.each([
    ['claude-opus-5-5', true],
    ['claude-sonnet-5-5-20260801', true],
    ['anthropic.claude-haiku-5-5-v1:0', true],
    ['claude-fable-5.1', true],
    ['claude-mythos-5-2', true],
    ['claude-fable-5-20260101', false],
    ['claude-fable-5-3', false],
    ['claude-sonnet-4-5', false],
    ['claude-opus-5', false],
    ['gpt-5.5', false],
  ])('by the model of the request: %s %s', (model, bound) => {
    expect(isPrefixBound({ request: { model } }, 'auto')).toBe(bound)
    expect(isPrefixBound({ request: { model } }, 'prefix')).toBe(true)
    expect(isPrefixBound({ request: { model } }, 'none')).toBe(false)
  })
  it('not where the request names no model, or lets the API drop the blocks', () => {
    expect(isPrefixBound({ request: {} }, 'auto')).toBe(false)
    const thinking = { block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    expect(isPrefixBound({ request: { model: 'claude-opus-5-5', thinking } }, 'auto')).toBe(false)
    expect(isPrefixBound({ request: { thinking } }, 'prefix')).toBe(false)
  })
})

describe('stripBoundThinking', () => {
  const think = (name: string): string => `{"type":"thinking","thinking":"t","signature":"${name}"}`
  const say = (...blocks: readonly string[]): string => `{"role":"assistant","content":[${blocks}]}`
  const TEXT = '{"type":"text","text":"a","n":1.0}'
  const GO = '{"role":"user","content":"go"}'
  const list = [
    GO,
    say(think('A'), TEXT),
    GO,
    say(think('B')),
    say(think('C'), TEXT, '{"type":"redacted_thinking","data":"D"}', TEXT),
  ]
  const before = parseHistory(`[${list}]`, 'anthropic-messages')

  it('leaves out what follows the first difference alone, and nothing else of a message', () => {
    const edited = [...before.messages.slice(0, 2), ...before.messages.slice(3)]
    const { messages, stripped, from } = stripBoundThinking(before, edited)
    expect(renderMessages(messages)).toBe(`[${[GO, say(think('A'), TEXT), say(TEXT, TEXT)]}]`)
    expect(stripped).toEqual(['/messages/3/content/0', '/messages/4/content/0', '/messages/4/content/2'])
    expect(from).toEqual([0, 1, 3])
  })
  it('leaves everything where nothing differs', () => {
    expect(stripBoundThinking(before, before.messages)).toMatchObject({ messages: before.messages, stripped: [] })
  })
})
