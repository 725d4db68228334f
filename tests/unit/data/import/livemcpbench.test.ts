import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const task = JSON.parse(readFileSync(fixturePath('livemcpbench.json'), 'utf8'))

describe('LiveMCPBench', () => {
  it('reads the messages as the server would, and is not taken for a plain chat log', async () => {
    const imported = await importFixture('livemcpbench.json')
    const run = only(imported)
    expect(imported.files[0]?.format).toBe('livemcpbench')
    expect(run).toMatchObject({
      group: 'livemcpbench:t-1',
      system: 'Use tools.',
      task: 'What time is it?',
      truncated: false,
    })
    expect(run.interactions.map((entry) => [entry.text, entry.observations.length, entry.source.index])).toEqual([
      ['Let me look.', 1, 2],
      ['Nine.', 0, 4],
    ])
  })

  it('reads a list of tasks, leaves out what is none, and sees a run that ends at a tool result', async () => {
    const cut = { ...task, task_id: 't-2', messages: task.messages.slice(0, 4) }
    const imported = await importText('all.json', JSON.stringify([task, { Question: 'x' }, cut]))
    expect(imported.trajectories.map((run) => [run.group, run.truncated, run.source.index])).toEqual([
      ['livemcpbench:t-1', false, 0],
      ['livemcpbench:t-2', true, 2],
    ])
    expect(imported.files[0]?.damage).toEqual([
      { index: 1, reason: 'element is no task: it has no task_id, or no messages list' },
    ])
  })

  it('leaves out a message of no known role and reports it', async () => {
    const messages = [
      ...task.messages.slice(0, 2),
      { role: 'narrator', content: 'meanwhile' },
      ...task.messages.slice(2),
    ]
    const imported = await importText('one.json', JSON.stringify({ ...task, messages }))
    expect(only(imported).interactions).toHaveLength(2)
    expect(imported.files[0]?.damage.map((entry) => entry.index)).toEqual([2])
  })

  itWithShared('imports the real tasks with a result at every call', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories', 'long', 'livemcpbench')])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    expect(trajectories.length).toBeGreaterThanOrEqual(8)
    for (const run of trajectories)
      expect(run.interactions.every((entry) => entry.observations.length === entry.toolCalls.length)).toBe(true)
  })
})
