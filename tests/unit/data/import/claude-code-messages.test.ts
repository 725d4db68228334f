import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { claudeCodeToAnthropicMessages } from '../../../../data/import/claude-code-messages.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'
import { fixturePath, jsonLines, withFolder } from '../../../fixtures/import-log.ts'

interface Body {
  readonly tools: readonly { readonly name: string }[]
  readonly messages: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[]
}

async function render(...records: readonly object[]): Promise<Body> {
  return withFolder({}, async (folder) => {
    writeFileSync(`${folder}/s.jsonl`, jsonLines(...records))
    const body = claudeCodeToAnthropicMessages(`${folder}/s.jsonl`)
    expect(validateHistory(parseHistory(body, 'anthropic-messages'))).toEqual([])
    return JSON.parse(body) as Body
  })
}

const base = { isSidechain: false, sessionId: 's' }
const user = (uuid: string, parentUuid: string | null, content: unknown): object => ({
  ...base,
  type: 'user',
  uuid,
  parentUuid,
  message: { role: 'user', content },
})
const assistant = (uuid: string, parentUuid: string | null, id: string, ...content: readonly object[]): object => ({
  ...base,
  type: 'assistant',
  uuid,
  parentUuid,
  message: { id, role: 'assistant', content },
})
const call = (id: string): object => ({ type: 'tool_use', id, name: 'Read', input: {}, caller: { type: 'direct' } })
const result = (id: string, content: unknown): object => ({ type: 'tool_result', tool_use_id: id, content })
const text = (value: string): object => ({ type: 'text', text: value })

describe('a Claude Code session as an Anthropic request', () => {
  it('starts after the last compaction and does not end on an assistant message', () => {
    const body = JSON.parse(claudeCodeToAnthropicMessages(fixturePath('claude-code-v2.jsonl'))) as Body
    expect(body.messages).toEqual([
      { role: 'user', content: [text('This session is being continued. one.ts was read.')] },
    ])
  })

  it("puts all results of a batch into the message after it, and a person's words behind them", async () => {
    const body = await render(
      user('u', null, 'go'),
      assistant('a1', 'u', 'm', text('Both.'), call('t1')),
      user('r1', 'a1', [result('t1', 'one')]),
      assistant('a2', 'r1', 'm', call('t2')),
      user('w', 'a2', 'hurry'),
      user('r2', 'w', [result('t2', 'two'), text('and mind the tests')]),
    )
    expect(body.messages.map((message) => message.content.map((block) => block.type))).toEqual([
      ['text'],
      ['text', 'tool_use', 'tool_use'],
      ['tool_result', 'tool_result', 'text', 'text'],
    ])
    expect(body.tools.map((tool) => tool.name)).toEqual(['Read'])
    expect(body.messages[1]?.content[1]).not.toHaveProperty('caller')
  })

  it('leaves out a call without a result, blank text and a thinking block without a usable signature', async () => {
    const body = await render(
      user('u', null, 'go'),
      assistant(
        'a',
        'u',
        'm',
        { type: 'thinking', thinking: 'hm', signature: 'REDACTED' },
        text('  '),
        call('t1'),
        call('dead'),
      ),
      user('r', 'a', [result('t1', 'one')]),
    )
    expect(body.messages[1]?.content).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input: {} }])
  })

  it('keeps a thinking block with its signature', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2lnbmF0dXJlLW9uZQ==' }
    const body = await render(
      user('u', null, 'go'),
      assistant('a', 'u', 'm', thinking, call('t')),
      user('r', 'a', [result('t', '')]),
    )
    expect(body.messages[1]?.content[0]).toEqual(thinking)
  })

  it('renames a tool id that comes back in a later call, on both sides', async () => {
    const body = await render(
      user('u', null, 'go'),
      assistant('a', 'u', 'm', call('x:0')),
      user('r', 'a', [result('x:0', 'one')]),
      assistant('b', 'r', 'n', call('x:0')),
      user('q', 'b', [result('x:0', 'two')]),
    )
    const ids = body.messages.flatMap((message) => message.content.map((block) => block.id ?? block.tool_use_id))
    expect(ids).toEqual([undefined, 'x_0', 'x_0', 'x_0_2', 'x_0_2'])
  })

  it('repairs half of a surrogate pair', async () => {
    const body = await render(user('u', null, 'cut \ud83d'))
    expect(body.messages[0]?.content[0]).toEqual(text('cut \ufffd'))
  })
})
