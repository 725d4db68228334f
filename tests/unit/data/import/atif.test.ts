import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('ATIF', () => {
  it('makes a step of source agent one interaction, with all its results, those of the whole step included', async () => {
    const [run] = (await importFixture('atif-v1.7.json')).trajectories
    expect(run?.interactions.map((entry) => [entry.source.index, entry.reasoning, entry.text])).toEqual([
      [3, 'Ask two.', ''],
      [10, '', 'A cat.'],
    ])
    expect(run?.interactions[0]?.observations).toEqual([
      { callId: 'b', content: 'two', isError: false },
      { callId: 'a', content: 'one', isError: false },
      { callId: 'a', content: 'one, again', isError: false },
      { callId: null, content: 'lost', isError: false },
      { callId: null, content: 'both done', isError: false },
    ])
  })

  it('leaves copied context out, keeps a compaction as summary, and what is no model call as context', async () => {
    const result = await importFixture('atif-v1.7.json')
    const [run] = result.trajectories
    expect(run).toMatchObject({ system: 'You read pictures.', task: 'What is this?\n[image]' })
    expect(run?.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [1, 'context', 'scripted\nran a hook'],
      [1, 'summary', 'It is a cat.'],
      [1, 'context', 'Time is short.'],
    ])
    expect(result.files[0]).toMatchObject({
      damage: [
        { index: 3, reason: 'orphan result of call z: kept as a result of its step' },
        { index: 9, reason: 'step has no source' },
      ],
      ignored: { 'copied context step': 2, 'agent step without a model call': 1, 'agent step without content': 1 },
    })
  })

  it('links embedded sub-agents to the call that started them, at any depth, in their parent\u2019s group', async () => {
    const { trajectories } = await importFixture('atif-v1.7.json')
    expect(trajectories.map((run) => [run.id, run.parent, run.parentCall, run.group])).toEqual([
      ['atif/tr-1', null, undefined, 'atif:s-1'],
      ['atif/tr-1/tr-1-a', 'atif/tr-1', 'a', 'atif:s-1'],
      ['atif/tr-1/tr-1-a/agent-0', 'atif/tr-1/tr-1-a', undefined, 'atif:s-1'],
    ])
  })

  it('is truncated where the run goes on in another file', async () => {
    const log = {
      schema_version: 'ATIF-v1.4',
      session_id: 's',
      steps: [{ source: 'agent', message: 'a' }],
      continued_trajectory_ref: 'part-2.json',
    }
    expect(only(await importText('a.json', JSON.stringify(log, null, 1)))).toMatchObject({
      id: 'atif/s',
      truncated: true,
    })
  })

  it('keeps the whole steps of a torn file', async () => {
    const text = readFileSync(fixturePath('atif-v1.7.json'), 'utf8')
    const result = await importText('a.json', text.slice(0, text.indexOf('"step_id": 8')))
    expect(result.trajectories[0]?.interactions).toHaveLength(1)
    expect(result.files[0]?.damage.map((entry) => entry.reason)).toContainEqual(expect.stringMatching(/torn/))
  })

  itWithShared('reads the shared runs: a failed one is empty, the other has a linked sub-agent', async () => {
    const folder = sharedPath('trajectories/synthetic-shapes')
    const { trajectories, files } = await importFiles([
      `${folder}/atif-v1.2-failed-run.json`,
      `${folder}/atif-v1.7.json`,
    ])
    expect(files.map((file) => [file.interactions, file.emptyRuns])).toEqual([
      [0, ['atif/run-2']],
      [5, []],
    ])
    expect(trajectories[1]).toMatchObject({ parent: 'atif/tr-main', parentCall: 'c3' })
  })
})
