import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('mini-swe-agent', () => {
  it('takes what follows a model message for its observation, format-error notices included', async () => {
    const run = only(await importFixture('mini-swe-agent-1.1.traj.json'))
    expect(run.interactions.map((entry) => [entry.toolCalls[0]?.arguments, entry.observations[0]?.content])).toEqual([
      ['ls', '<returncode>0</returncode>\n<output>\na\n</output>'],
      [undefined, 'Please always provide EXACTLY ONE action in triple backticks, found 0 actions.'],
      [undefined, 'Please always provide EXACTLY ONE action in triple backticks, found 2 actions.'],
      ['{"command":"touch b"}', ''],
      ['sleep 9', undefined],
    ])
    expect(run.turns).toEqual([])
    expect(run).toMatchObject({ system: 'Write one bash block.', task: 'Please solve this issue: b is missing.' })
  })

  it('takes what stands around the one action for the thought, and a text without one for text', async () => {
    const run = only(await importFixture('mini-swe-agent-1.1.traj.json'))
    expect(run.interactions.map((entry) => [entry.reasoning, entry.text])).toEqual([
      ['THOUGHT: look\n\nthen go on', ''],
      ['', 'I am not sure.'],
      ['', '```bash\ntrue\n```\n```bash\nfalse\n```'],
      ['Use the tool.', ''],
      ['', ''],
    ])
  })

  it('counts the exit record, and is truncated when it ended at a limit', async () => {
    const result = await importFixture('mini-swe-agent-1.1.traj.json')
    expect(only(result).truncated).toBe(true)
    expect(result.files[0]?.ignored).toEqual({ 'exit record': 1 })
  })

  it('names the group by the instance, else by the task', async () => {
    const text = readFileSync(fixturePath('mini-swe-agent-1.1.traj.json'), 'utf8')
    expect(only(await importText('django__django-123.traj.json', text)).group).toBe('mini-swe-agent:django__django-123')
    const [one, other] = [await importText('a.traj.json', text), await importText('b.traj.json', text)]
    expect(only(one).group).toBe(only(other).group)
  })

  it('reports damaged messages of a bare list, and takes a second user message in a row for a person', async () => {
    const log = [
      { role: 'user', content: 'do it' },
      { role: 'assistant', content: '```mswea_bash_command\nls\n```' },
      { role: 'user', content: '<returncode>0</returncode>' },
      { role: 'user', content: 'Faster.' },
      null,
      { role: 'assistant', content: 'ok' },
    ]
    const result = await importText('a.json', JSON.stringify(log, null, 1))
    expect(only(result)).toMatchObject({
      format: 'mini-swe-agent',
      interactions: [{ toolCalls: [{ arguments: 'ls' }] }, { text: 'ok' }],
      turns: [{ before: 1, kind: 'user', text: 'Faster.' }],
    })
    expect(result.files[0]?.damage).toEqual([{ index: 4, reason: 'message has no role' }])
  })

  it('reads a terminal recording without its colours, spinner and client notices', async () => {
    const result = await importFixture('mini-swe-agent.agent.log')
    const run = only(result)
    expect(run).toMatchObject({
      system: 'Write one bash block.',
      task: 'Please solve this issue: b is missing.',
      truncated: true,
    })
    expect(run.interactions.map((entry) => [entry.reasoning, entry.text, entry.toolCalls[0]?.arguments])).toEqual([
      ['THOUGHT: look at the chat log', '', 'cat chat.txt'],
      ['', 'no action', undefined],
      ['', '', 'echo done'],
    ])
    // "User:" inside an output is no new turn.
    expect(run.interactions[0]?.observations[0]?.content).toBe(
      '<returncode>0</returncode>\n<output>\nUser:\nhello\n</output>',
    )
    expect(run.interactions.map((entry) => entry.source.line)).toEqual([8, 24, 30])
    expect(result.files[0]?.damage).toEqual([])
  })

  itWithShared('reads the real runs as INDEX.csv counts them', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories/mini-swe-agent')])
    expect(trajectories.map((run) => [run.source.file, run.interactions.length])).toEqual([
      ['mini-swe-agent/github_issue.traj.json', 10],
      ['mini-swe-agent/local.traj.json', 2],
    ])
    expect(trajectories.flatMap((run) => run.turns)).toEqual([])
    expect(files.flatMap((file) => file.damage)).toEqual([])
  })
})
