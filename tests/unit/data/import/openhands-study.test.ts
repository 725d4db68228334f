import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('the OpenHands study', () => {
  it('makes each step an interaction; the word None is no thought, and an empty result is one', async () => {
    const run = only(await importFixture('openhands-study.json'))
    expect(run.interactions.map((entry) => [entry.text, entry.toolCalls[0]?.name, entry.observations[0]])).toEqual([
      ['Look at the repository.', 'execute_bash', { callId: null, content: 'ls\r\ncalc.py', isError: false }],
      ['', 'str_replace_editor', { callId: null, content: 'ERROR: the path /x.py does not exist', isError: true }],
      ['Done.', 'finish', { callId: null, content: '', isError: false }],
    ])
    expect(run.group).toBe('openhands-study:acme__calc-12')
  })

  it('reports a step without its fields, a hole in the iterations and an action without a name', async () => {
    const log = JSON.parse(readFileSync(fixturePath('openhands-study.json'), 'utf8'))
    const [first, second, last] = log.steps
    const steps = [first, { iteration: 1, thought: 'cut' }, { ...last, action: null }, { ...second, iteration: 3 }]
    const imported = await importText('run.json', JSON.stringify({ ...log, steps }))
    expect(imported.files[0]?.damage).toEqual([
      { index: 1, reason: 'step has no thought, action or result' },
      { index: 2, reason: 'iteration 2 stands where 1 is expected; it is kept' },
      { index: 2, reason: 'action has no name; the step is kept without it' },
    ])
    expect(only(imported).interactions.map((entry) => entry.toolCalls.length)).toEqual([1, 0, 1])
  })

  itWithShared('imports every step of the real runs with its result', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories', 'long', 'openhands-study')])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    expect(trajectories.length).toBeGreaterThanOrEqual(10)
    for (const run of trajectories)
      expect(run.interactions.every((entry) => entry.toolCalls.length === 1 && entry.observations.length === 1)).toBe(
        true,
      )
  })
})
