import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const REACT = 'react-super_expert__tinyrepo.ipynb'
const MASKED = 'swe-agent_masked__tinyrepo_data.ipynb'

describe('SUPER notebooks', () => {
  it('makes each step an interaction whose observation is what the cell printed in the end', async () => {
    const run = only(await importFixture(REACT))
    expect(run.interactions.map((entry) => [entry.reasoning, entry.toolCalls[0]?.name, entry.source.index])).toEqual([
      ['Clone it.', 'execute', 2],
      ['', undefined, 7],
      ['Shorten the run.', 'edit', 12],
      ['Report.', 'submit', 17],
    ])
    expect(run.interactions[0]?.observations[0]?.content).toBe('Cloning\nReceiving: 100%\ndone \n')
    expect(run.interactions.map((entry) => entry.observations[0]?.isError)).toEqual([false, true, true, false])
  })

  it('reads the system prompt out of the Python message list and the task from the query', async () => {
    const run = only(await importFixture(REACT))
    expect(run.system).toBe("Interact in a notebook.\nDon't stop early. ✓")
    expect(run.task).toContain('report the loss.')
    expect(run.truncated).toBe(false)
  })

  it('names what the benchmark ran beforehand, and takes the exit of the harness for a failed call', async () => {
    const imported = await importFixture(MASKED)
    const run = only(imported)
    expect(run.interactions.map((entry) => [entry.actor, entry.toolCalls[0]?.name])).toEqual([
      ['user', 'command'],
      [null, 'open'],
    ])
    expect([run.truncated, run.system]).toEqual([true, 'You are a programmer.'])
    expect(imported.files[0]?.ignored['step of the harness']).toBe(1)
  })

  it('puts the expert and the masked variant of a task into one group, for both agents', async () => {
    expect(only(await importFixture(REACT)).group).toBe('super-benchmark:tinyrepo')
    expect(only(await importFixture(MASKED)).group).toBe('super-benchmark:tinyrepo')
    const renamed = await importText('run.ipynb', readFileSync(fixturePath(REACT)))
    expect(only(renamed).group).toBe('super-benchmark:https://example.org/lab/tinyrepo')
  })

  it('keeps the whole cells of a torn notebook, and reports cells and steps that miss something', async () => {
    const whole = readFileSync(fixturePath(REACT), 'utf8')
    const torn = await importText('torn.ipynb', whole.slice(0, whole.indexOf('### Step 3')))
    expect(only(torn)).toMatchObject({ truncated: true, interactions: [{ index: 0 }, { index: 1 }] })
    expect(torn.files[0]?.damage).toHaveLength(1)
    const { cells }: { cells: unknown[] } = JSON.parse(whole)
    const kept = cells.flatMap((cell, at) => (at === 5 || at === 7 ? [] : at === 3 ? ['gone'] : [cell]))
    const damaged = await importText('lost.ipynb', JSON.stringify({ cells: kept, nbformat: 4 }))
    expect(damaged.files[0]?.damage.map((entry) => entry.reason)).toEqual([
      'step 1 has no action: it is kept without',
      'cell is no object',
      'step 2 has no heading: it starts at its thought',
    ])
    expect(only(damaged).interactions).toHaveLength(4)
  })

  itWithShared(
    'says of the real runs that submitted nothing that they were cut, but for one empty answer',
    async () => {
      const { trajectories, files } = await importFiles([sharedPath('trajectories', 'long', 'super-benchmark')])
      expect(files.flatMap((file) => file.damage)).toEqual([])
      const metrics = (file: string): { submitted: number } =>
        JSON.parse(readFileSync(sharedPath('trajectories', 'long', file.replace('.ipynb', '.metrics.json')), 'utf8'))
      const wrong = trajectories.filter((run) => run.truncated === (metrics(run.source.file).submitted === 1))
      expect(wrong.map((run) => run.source.file)).toEqual(['super-benchmark/react-super_expert__discodisco.ipynb'])
    },
  )

  itWithShared('groups the real runs by task exactly as by the repository that the task names', async () => {
    const { trajectories } = await importFiles([sharedPath('trajectories', 'long', 'super-benchmark')])
    const repositories = new Map<string, string>()
    for (const run of trajectories) {
      const repository = /Git repository:\s*(\S+)/.exec(run.task)?.[1]?.toLowerCase() ?? ''
      expect(repositories.get(run.group) ?? repository, run.source.file).toBe(repository)
      repositories.set(run.group, repository)
    }
    expect(new Set(repositories.values()).size).toBe(repositories.size)
  })
})
