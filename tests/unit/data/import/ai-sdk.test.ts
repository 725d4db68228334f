import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { fixturePath, importFixture, importText, jsonLines, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('AI SDK model messages', () => {
  it('imports what the server reads from the same bytes', async () => {
    const run = only(await importFixture('ai-sdk.json'))
    const served = splitHistory(parseHistory(readFileSync(fixturePath('ai-sdk.json'), 'utf8'), 'ai-sdk')).trajectory
    const content = (entry: (typeof run.interactions)[number]): unknown => ({ ...entry, source: null })
    expect(run.interactions.map(content)).toEqual(served.interactions.map(content))
    expect(run).toMatchObject({ system: 'You answer questions.', task: 'Weather in Oslo?\n[image]', domain: 'ai-sdk' })
    expect(run.interactions[0]?.observations.map((entry) => [entry.callId, entry.content, entry.isError])).toEqual([
      ['t2', 'no such city', true],
      ['t1', '{"t":3}', false],
    ])
  })

  it('reads JSONL of messages, and reports an orphan and a second result', async () => {
    const result = (id: string): object => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: id, toolName: 'run', output: { type: 'text', value: id } }],
    })
    const imported = await importText(
      'm.jsonl',
      jsonLines(
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'run', input: {} }] },
        result('a'),
        result('a'),
        result('b'),
      ),
    )
    expect(only(imported).interactions[0]?.observations.length).toBe(1)
    expect(imported.files[0]?.damage.map(({ line }) => line)).toEqual([4, 5])
  })

  it('leaves plain strings to the formats that they could be as well', async () => {
    const chat = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'ok' },
    ]
    expect((await importText('c.json', JSON.stringify(chat))).files[0]?.format).toBe('openai-chat')
  })
})

describe('AI SDK UI messages', () => {
  it('splits the steps of one message, and takes a tool part as a call with its result', async () => {
    const imported = await importFixture('ai-sdk-ui.json')
    const run = only(imported)
    expect(run).toMatchObject({
      system: 'Be brief.',
      task: 'Weather?\n[image]',
      domain: 'ai-sdk-ui',
      group: 'ai-sdk-ui:chat-17',
    })
    expect(
      run.interactions.map((entry) => [entry.reasoning, entry.text, entry.toolCalls.map(({ name }) => name)]),
    ).toEqual([
      ['Call it.', '', ['getWeather', 'notes']],
      ['', '', ['delete']],
      ['', '3C', ['notes']],
    ])
    expect(run.interactions.map(({ observations }) => observations)).toEqual([
      [
        { callId: 't1', content: '{"t":3}', isError: false },
        { callId: 't2', content: 'no notes', isError: true },
      ],
      [{ callId: 't3', content: 'not today', isError: true }],
      [],
    ])
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([[3, 'user', 'thanks']])
    expect(imported.files[0]).toMatchObject({ damage: [], ignored: { 'data-chart part': 1, 'source-url part': 1 } })
  })

  it('reads version 4, whose messages hold their content twice', async () => {
    const messages = [
      { id: '1', role: 'user', content: 'time?', parts: [{ type: 'text', text: 'time?' }] },
      {
        id: '2',
        role: 'assistant',
        content: 'Nine.',
        parts: [
          { type: 'step-start' },
          {
            type: 'tool-invocation',
            toolInvocation: { state: 'result', toolCallId: 'c', toolName: 'clock', args: {}, result: '09:00' },
          },
          { type: 'step-start' },
          { type: 'text', text: 'Nine.' },
        ],
      },
    ]
    const run = only(await importText('v4.json', JSON.stringify(messages)))
    expect(
      run.interactions.map(({ text, observations }) => [text, observations.map(({ content }) => content)]),
    ).toEqual([
      ['', ['09:00']],
      ['Nine.', []],
    ])
  })

  it('reads JSONL of messages or of chats, and reports states that it does not know', async () => {
    const user = { role: 'user', parts: [{ type: 'text', text: 'go' }] }
    const odd = { role: 'assistant', parts: [{ type: 'tool-run', toolCallId: 'a', state: 'exploded', input: 'x' }] }
    const lines = await importText('m.jsonl', jsonLines(user, odd, { role: 'narrator' }))
    expect(only(lines).interactions[0]?.toolCalls).toEqual([{ id: 'a', name: 'run', arguments: 'x' }])
    expect(lines.files[0]?.damage.map(({ line }) => line)).toEqual([2, 3])
    const chats = await importText(
      'c.jsonl',
      jsonLines({ id: 'x', messages: [user, odd] }, { id: 'y', messages: [user, odd] }),
    )
    expect(chats.trajectories.map(({ group }) => group)).toEqual(['ai-sdk-ui:x', 'ai-sdk-ui:y'])
  })

  itWithShared('imports the shared file: the open call and the text are one interaction', async () => {
    const imported = await importFiles([sharedPath('trajectories', 'synthetic-shapes', 'ai-sdk-ui-messages.json')])
    const run = only(imported)
    expect(run.interactions.map(({ text, observations }) => [text, observations.length])).toEqual([
      ['', 1],
      ['3C', 0],
    ])
    expect(imported.files[0]?.format).toBe('ai-sdk-ui')
  })
})
