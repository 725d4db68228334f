import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const log = readFileSync(fixturePath('curie.log'), 'utf8')

describe('Curie', () => {
  it('makes each Round Cost a model call of the role behind it, also one whose words are not logged', async () => {
    const run = only(await importFixture('curie.log'))
    expect(run.interactions.map((entry) => [entry.actor, entry.source.line])).toEqual([
      [null, 1],
      ['SUPERVISOR', 2],
      ['SUPERVISOR', 8],
      ['CONTROL_WORKER_0', 20],
      ['CONCLUDER', 26],
    ])
  })

  it('gives each tool its own arguments, and the lines of tool.py as what it returned', async () => {
    const run = only(await importFixture('curie.log'))
    expect(run.interactions[1]?.observations).toEqual([
      { callId: null, content: 'Writing new plan 📖', isError: false },
    ])
    expect(run.interactions[3]?.toolCalls.map((call) => [call.name, call.arguments])).toEqual([
      ['plan_get', "{'plan_id': 'p1'}"],
      ['run_shell', "{'command': 'cat out.txt'}"],
    ])
    expect(run.interactions[3]?.observations).toEqual([])
  })

  it('reads the full words of a node from its event, further lines of a record, and other events as context', async () => {
    const run = only(await importFixture('curie.log'))
    expect(run.interactions[2]?.text).toBe('The plan is stored.\n\nIt goes to the workers now.')
    expect(run.interactions[4]?.text).toBe('### Result\n\nThe first is faster.')
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [3, 'context', "[{'plan_id': 'p1'}]"],
    ])
  })

  it('takes the question of the plan as task, and steps that are used up as a cut', async () => {
    const run = only(await importFixture('curie.log'))
    expect([run.task, run.truncated]).toEqual(['Which is faster?', true])
    const free = await importText('free.log', log.replace('Not enough remaining steps', 'Enough steps'))
    expect(only(free).truncated).toBe(false)
  })

  it('reports a banner whose cost line is lost, and text before the first logger line', async () => {
    const lines = log.split('\n')
    const damaged = ['of a lost line', ...lines.filter((_, at) => at !== 7)].join('\n').slice(0, -12)
    const imported = await importText('torn.log', damaged)
    expect(imported.files[0]?.damage).toEqual([
      { line: 1, reason: 'line before the first logger line is left out' },
      { line: 9, reason: 'role banner without a Round Cost line: it counts as a model call' },
    ])
    expect(only(imported).interactions).toHaveLength(5)
  })

  itWithShared('imports the real logs with a role at all but the program’s own calls', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories', 'long', 'curie')])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    expect(
      trajectories.map((run) => [
        run.interactions.length,
        run.interactions.filter((entry) => entry.actor === null).length,
      ]),
    ).toEqual([
      [61, 2],
      [46, 3],
    ])
    expect(trajectories.every((run) => run.task.length > 100)).toBe(true)
  })
})
