import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isObject } from '../../../../data/import/json-value.ts'
import { importFixture, importText, jsonLines, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const base = { isSidechain: false, sessionId: 's', cwd: '/w', version: '2.1.0' }
const user = (uuid: string, parentUuid: string | null, content: unknown, more: object = {}): object => ({
  ...base,
  type: 'user',
  uuid,
  parentUuid,
  message: { role: 'user', content },
  ...more,
})
const assistant = (uuid: string, parentUuid: string | null, id: string, block: object): object => ({
  ...base,
  type: 'assistant',
  uuid,
  parentUuid,
  message: { id, role: 'assistant', content: [block] },
})
const text = (value: string): object => ({ type: 'text', text: value })
const call = (id: string): object => ({ type: 'tool_use', id, name: 'Read', input: { id } })
const result = (id: string, content: string): object => ({ type: 'tool_result', tool_use_id: id, content })

describe('a Claude Code 2.x session', () => {
  it('makes all lines of one message id one interaction, with results that stand between them', async () => {
    const [run] = (await importFixture('claude-code-v2.jsonl')).trajectories
    expect(run?.interactions[0]).toMatchObject({
      reasoning: 'Two files to read.',
      toolCalls: [
        { id: 't1', name: 'Read', arguments: '{"file":"one.ts"}' },
        { id: 't2', name: 'Task' },
      ],
      observations: [
        { callId: 't1', content: 'one', isError: false },
        { callId: 't2', content: '12 lines', isError: false },
      ],
      source: { line: 5 },
    })
  })

  it('follows the parent chain: the rewound answer and the words after it are not there', async () => {
    const result = await importFixture('claude-code-v2.jsonl')
    const json = JSON.stringify(result.trajectories)
    expect(json).not.toContain('An answer that was rewound.')
    expect(json).not.toContain('No, undo that.')
    expect(result.trajectories[0]?.interactions.map((entry) => entry.text)).toEqual(['', 'Renaming now.', '', 'Done.'])
    expect(result.files[0]?.ignored['message of a dead branch']).toBe(3)
  })

  it('tells a person from the harness, and a compaction from both', async () => {
    const [run] = (await importFixture('claude-code-v2.jsonl')).trajectories
    expect(run?.task).toBe('Rename the parser.')
    expect(run?.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [0, 'context', '<command-name>/clear</command-name>'],
      [2, 'user', 'Use camel case.'],
      [2, 'context', 'Skill text.'],
      [3, 'summary', 'This session is being continued. one.ts was read.'],
    ])
  })

  it('makes a sub-agent a run of its own, in the group of its parent, linked to the call that started it', async () => {
    const [parent, child] = (await importFixture('claude-code-v2.jsonl')).trajectories
    expect(child).toMatchObject({ id: 'claude-code/sess-2/agent-s1', parent: parent?.id, parentCall: 't2' })
    expect(child?.group).toBe(parent?.group)
    expect(child?.interactions).toHaveLength(1)
  })

  it('links a sub-agent that stands in a file of its own', async () => {
    const run = only(
      await importText(
        'agent-7.jsonl',
        jsonLines(
          { ...user('a', null, 'Count.'), isSidechain: true, agentId: '7' },
          { ...assistant('b', 'a', 'm1', text('12')), isSidechain: true, agentId: '7' },
        ),
      ),
    )
    expect(run).toMatchObject({ id: 'claude-code/s/agent-7', parent: 'claude-code/s', group: 'claude-code:s' })
  })

  it('gives each sidechain of a file without agent ids a run of its own', async () => {
    const side = (entry: object): object => ({ ...entry, isSidechain: true })
    const { trajectories } = await importText(
      's.jsonl',
      jsonLines(
        user('u', null, 'go'),
        assistant('a', 'u', 'm', text('ok')),
        side(user('x1', null, 'first')),
        side(user('y1', null, 'second')),
        side(assistant('x2', 'x1', 'mx', text('one'))),
        side(assistant('y2', 'y1', 'my', text('two'))),
      ),
    )
    expect(trajectories.map((run) => [run.task, run.interactions.map((entry) => entry.text)])).toEqual([
      ['go', ['ok']],
      ['first', ['one']],
      ['second', ['two']],
    ])
  })

  it('takes what a person typed while the agent was busy as a user turn', async () => {
    const run = only(
      await importText(
        's.jsonl',
        jsonLines(
          user('u', null, 'go'),
          assistant('a', 'u', 'm', call('t')),
          user('r', 'a', [result('t', 'x')]),
          {
            ...base,
            type: 'attachment',
            uuid: 'q',
            parentUuid: 'r',
            attachment: { type: 'queued_command', prompt: 'faster' },
          },
          assistant('b', 'q', 'n', text('done')),
        ),
      ),
    )
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([[1, 'user', 'faster']])
  })

  it('bridges a missing parent with the line before it and reports the line', async () => {
    const imported = await importText(
      's.jsonl',
      jsonLines(user('u', null, 'go'), assistant('a', 'u', 'm', text('one')), assistant('c', 'lost', 'n', text('two'))),
    )
    expect(only(imported).interactions.map((entry) => entry.text)).toEqual(['one', 'two'])
    expect(imported.files[0]?.damage).toEqual([
      { line: 3, reason: 'parent lost is not in the file: continued with line 2' },
    ])
  })

  it('keeps a result without a call as context, drops a second result, and reports both', async () => {
    const imported = await importText(
      's.jsonl',
      jsonLines(
        user('u', null, 'go'),
        assistant('a', 'u', 'm', call('t')),
        user('r', 'a', [result('t', 'first')]),
        user('r2', 'r', [result('t', 'second')]),
        user('r3', 'r2', [result('unknown', 'stray')]),
        assistant('b', 'r3', 'n', text('done')),
      ),
    )
    const run = only(imported)
    expect(run.interactions[0]?.observations.map((entry) => entry.content)).toEqual(['first'])
    expect(run.turns.map((turn) => [turn.kind, turn.text])).toEqual([['context', 'stray']])
    expect(imported.files[0]?.damage.map((entry) => entry.line)).toEqual([4, 5])
  })

  it('loses nothing when parent links run in a circle', async () => {
    const imported = await importText('s.jsonl', jsonLines(user('u', 'a', 'go'), assistant('a', 'u', 'm', text('one'))))
    expect(only(imported).interactions.map((entry) => entry.text)).toEqual(['one'])
    expect(imported.files[0]?.damage).toHaveLength(1)
  })

  it('takes the newest leaf by time when the lines are out of order', async () => {
    const at = (entry: object, second: number): object => ({ ...entry, timestamp: `2026-01-01T00:00:0${second}.000Z` })
    const run = only(
      await importText(
        's.jsonl',
        jsonLines(
          at(user('u', null, 'go'), 1),
          at(assistant('new', 'u', 'n', text('kept')), 3),
          at(assistant('old', 'u', 'o', text('rewound')), 2),
        ),
      ),
    )
    expect(run.interactions.map((entry) => entry.text)).toEqual(['kept'])
  })

  it('pairs redacted ids by position inside the batch', async () => {
    const run = only(
      await importText(
        's.jsonl',
        jsonLines(
          user('u', null, 'go'),
          assistant('a', 'u', 'm', { ...call('REDACTED'), input: { n: 1 } }),
          assistant('b', 'a', 'm', { ...call('REDACTED'), input: { n: 2 } }),
          user('r1', 'b', [result('REDACTED', 'one')]),
          user('r2', 'r1', [result('REDACTED', 'two')]),
        ),
      ),
    )
    expect(run.interactions[0]?.toolCalls).toHaveLength(2)
    expect(run.interactions[0]?.observations.map((entry) => entry.content)).toEqual(['one', 'two'])
  })
})

describe('a Claude Code 1.x export without links', () => {
  it('keeps the order of the file', async () => {
    const run = only(await importFixture('claude-code-v1.jsonl'))
    expect(run.task).toBe('What does it print?')
    expect(run.interactions.map((entry) => [entry.toolCalls.length, entry.observations.length, entry.text])).toEqual([
      [1, 1, ''],
      [0, 0, 'It prints 42.'],
    ])
  })
})

itWithShared('case 23: one message over many lines is two model calls', async () => {
  const file: unknown = JSON.parse(
    readFileSync(sharedPath('cases', '23-claude-code-one-message-many-lines.json'), 'utf8'),
  )
  const lines = isObject(file) && Array.isArray(file.input_lines) ? file.input_lines : []
  const run = only(await importText('case.jsonl', lines.join('\n')))
  expect(run.interactions).toHaveLength(2)
  expect(run.interactions[0]?.toolCalls).toHaveLength(2)
  expect(run.interactions[0]?.observations).toHaveLength(2)
  expect(run.turns).toEqual([])
})
