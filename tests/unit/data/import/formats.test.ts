import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { fixturePath, importFixture, importText, jsonLines, only } from '../../../fixtures/import-log.ts'

describe('tau-bench', () => {
  it('makes each element a run, grouped by task over its trials', async () => {
    const { trajectories } = await importFixture('tau-bench.json')
    expect(trajectories.map((run) => [run.id, run.group, run.interactions.length, run.truncated])).toEqual([
      ['tau-bench/tau-bench/task7.trial0', 'tau-bench:task-7', 4, false],
      ['tau-bench/tau-bench/task7.trial1', 'tau-bench:task-7', 1, true],
    ])
    expect(trajectories[0]).toMatchObject({ system: 'You book rooms.', task: 'Book room 204 for Friday.' })
  })

  it('reports an element that is no run, and a run without an interaction, and goes on', async () => {
    const [file] = (await importFixture('tau-bench.json')).files
    expect(file?.damage).toEqual([{ index: 3, reason: 'element is no run: it has no task_id, or no traj list' }])
    expect(file?.emptyRuns).toEqual(['tau-bench/tau-bench/task8.trial0'])
  })
})

describe('OpenAI chat', () => {
  it('pairs a reused id with the nearest unanswered call, and keeps an empty result', async () => {
    const run = only(await importFixture('openai-chat.json'))
    expect(run.interactions.map((entry) => entry.observations)).toEqual([
      [{ callId: 'call_1', content: '{"room":204,"free":true}', isError: false }],
      [],
      [
        { callId: 'call_2', content: 'sent', isError: false },
        { callId: 'call_1', content: '', isError: false },
      ],
      [],
    ])
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([[2, 'user', 'Yes.']])
  })

  it('gives the same run from a list in one file and from one message per line, with the line as source', async () => {
    const whole = only(await importFixture('openai-chat.json'))
    const lines = only(await importFixture('openai-chat-messages.jsonl'))
    expect(lines.interactions.map(({ source, ...content }) => content)).toEqual(
      whole.interactions.map(({ source, ...content }) => content),
    )
    expect(whole.interactions.map((entry) => entry.source.index)).toEqual([2, 4, 6, 9])
    expect(lines.interactions.map((entry) => entry.source.line)).toEqual([3, 5, 7, 10])
  })

  it('reads JSONL of request bodies as one run per line, grouped by their task', async () => {
    const body = (task: string): object => ({
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: task },
        { role: 'assistant', content: 'ok' },
      ],
    })
    const { trajectories } = await importText('set.jsonl', jsonLines(body('a'), body('b'), body('a')))
    expect(trajectories).toHaveLength(3)
    expect(trajectories[0]?.group).toBe(trajectories[2]?.group)
    expect(trajectories[0]?.group).not.toBe(trajectories[1]?.group)
    expect(trajectories[1]?.interactions[0]?.source).toMatchObject({ line: 2, index: 2 })
  })

  it('drops and reports the second result of a call', async () => {
    const chat = [
      { role: 'user', content: 'time?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'bash:0', type: 'function', function: { name: 'date', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'bash:0', content: '09:00' },
      { role: 'tool', tool_call_id: 'bash:0', content: '09:00 (late copy)' },
    ]
    const imported = await importText('c.json', JSON.stringify(chat))
    expect(only(imported).interactions[0]?.observations.map((entry) => entry.content)).toEqual(['09:00'])
    expect(imported.files[0]?.damage.map((entry) => entry.index)).toEqual([3])
  })

  it('leaves out a message of no known role and reports it', async () => {
    const imported = await importText(
      'c.jsonl',
      jsonLines(
        { role: 'system', content: 's' },
        { role: 'user', content: 'go' },
        { role: 'narrator', content: 'meanwhile' },
        { role: 'assistant', content: 'done' },
        { role: 'user', content: 'thanks' },
      ),
    )
    expect(only(imported).interactions[0]?.source.line).toBe(4)
    expect(imported.files[0]?.damage.map((entry) => entry.line)).toEqual([3])
  })
})

describe('Anthropic Messages', () => {
  it('imports a request body with system, results, images and errors', async () => {
    const run = only(await importFixture('anthropic-messages.json'))
    expect(run).toMatchObject({ system: 'You fix bugs.', task: 'Fix parse.ts.', domain: 'anthropic-messages' })
    expect(run.interactions[0]).toMatchObject({ reasoning: 'Read it first.', text: 'Reading.' })
    expect(run.interactions[0]?.observations[0]?.content).toBe('export const x = 1\n[image]')
    expect(run.interactions[1]?.observations[0]).toEqual({ callId: 'toolu_2', content: '1 failed', isError: true })
    expect(run.turns.map((turn) => [turn.before, turn.text])).toEqual([[1, 'Mind the tests.']])
  })

  it('gives exactly the text that the server reads from the same bytes', async () => {
    const run = only(await importFixture('anthropic-messages.json'))
    const served = splitHistory(
      parseHistory(readFileSync(fixturePath('anthropic-messages.json'), 'utf8'), 'anthropic-messages'),
    )
    const content = (entry: (typeof run.interactions)[number]): unknown => ({ ...entry, source: null })
    expect(run.interactions.map(content)).toEqual(served.trajectory.interactions.map(content))
    expect([run.system, run.task]).toEqual([served.trajectory.system, served.trajectory.task])
  })
})

describe('pi', () => {
  it('reads a linear session: parallel calls, errors, compaction, a shell command of the user', async () => {
    const imported = await importFixture('pi-v1.jsonl')
    const run = only(imported)
    expect(run.interactions.map((entry) => [entry.reasoning, entry.text, entry.observations.length])).toEqual([
      ['Two files.', 'Reading both.', 2],
      ['', 'Editing.', 0],
    ])
    expect(run.interactions[0]?.observations[1]).toEqual({ callId: 't2', content: 'no such file', isError: true })
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [1, 'summary', 'a.ts was read.'],
      [1, 'context', '$ git status\nclean'],
    ])
    expect(imported.files[0]?.ignored['failed model call']).toBe(1)
    expect(run.truncated).toBe(true)
  })

  it('puts a branched session into the group of the session it came from', async () => {
    expect(only(await importFixture('pi-v1.jsonl')).group).toBe('pi:99999999-2222-3333-4444-555555555555')
  })

  it('follows the tree of newer sessions from the newest entry', async () => {
    const run = only(await importFixture('pi-v3.jsonl'))
    expect(run.interactions.map((entry) => entry.text)).toEqual(['', 'Here they are.'])
    expect(run.turns.map((turn) => turn.kind)).toEqual(['summary'])
  })
})

describe('Who&When', () => {
  it('makes every message an interaction of its agent and the question the task', async () => {
    const run = only(await importFixture('who-and-when.json'))
    expect(run.interactions.map((entry) => entry.actor)).toEqual([
      'human',
      'Orchestrator (-> WebSurfer)',
      'WebSurfer',
      'Orchestrator (termination condition)',
    ])
    expect(run).toMatchObject({ task: 'Which  year\nwas it?', domain: 'who-and-when' })
  })

  it('groups by the question whatever its white space', async () => {
    const log = (question: string): string =>
      JSON.stringify({ question, history: [{ role: 'a', content: 'x' }], mistake_step: '0' })
    const first = only(await importText('1.json', log('Which year was it?')))
    expect(first.group).toBe(only(await importFixture('who-and-when.json')).group)
    expect(first.group).not.toBe(only(await importText('2.json', log('Which day was it?'))).group)
  })
})

describe('SWE-agent', () => {
  it('counts thought and action once, and keeps what the model wrote beside them', async () => {
    const run = only(await importFixture('swe-agent.traj'))
    expect(run.interactions.map((entry) => [entry.reasoning, entry.text === '', entry.toolCalls.length])).toEqual([
      ['Let me look at the file.\n', true, 1],
      ['I am not sure.', true, 0],
      ['Now the fix.\n', false, 1],
    ])
    expect(run.interactions[2]?.text).toContain('This should do.')
    expect(run.interactions.map((entry) => entry.observations[0]?.content)).toEqual([
      'def total(): ...',
      'Your output was not formatted correctly.',
      '',
    ])
  })

  it('takes system prompt, demonstration and task from the history, and a run cut by cost as truncated', async () => {
    const run = only(await importFixture('swe-agent.traj'))
    expect(run.system).toBe('You are a programmer.')
    expect(run.task).toContain('Totals are  rounded wrongly.')
    expect(run.turns.map((turn) => [turn.kind, turn.text])).toEqual([['context', 'Here is a demonstration.']])
    expect(run.truncated).toBe(true)
  })

  it('reads a file that holds a history only, with its tool calls', async () => {
    const run = only(await importFixture('swe-agent-history-only.traj'))
    expect(run.interactions.map((entry) => entry.toolCalls[0])).toEqual([
      { id: 'call_a', name: 'find_file', arguments: '{"file_name":"totals.py"}' },
      { id: 'call_b', name: 'submit', arguments: '{}' },
    ])
    expect(run.interactions.map((entry) => entry.observations[0]?.content)).toEqual(['Found 1 match', 'diff'])
  })

  it('puts two configurations of one issue into one group', async () => {
    const steps = only(await importFixture('swe-agent.traj'))
    const history = only(await importFixture('swe-agent-history-only.traj'))
    expect(steps.group).toBe(history.group)
  })
})
