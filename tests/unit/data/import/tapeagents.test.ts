import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const FIXTURE = 'task3_seed9_shop.order-chairs.json'

describe('TapeAgents', () => {
  it('makes the steps of one prompt an interaction; observations answer its actions in order', async () => {
    const imported = await importFixture(FIXTURE)
    const run = only(imported)
    expect(run.interactions.map((entry) => [entry.reasoning, entry.toolCalls.map((call) => call.name)])).toEqual([
      ['The user wants chairs.', []],
      ['{"page_state":"home","are_we_stuck":false}', []],
      ['', ['input_text_action', 'click_action']],
      ['', ['final_answer_action']],
    ])
    expect(run.interactions[2]?.observations).toEqual([
      { callId: null, content: 'Error: not an input\nRootWebArea Results', isError: true },
      { callId: null, content: 'RootWebArea Chair', isError: false },
    ])
    expect(imported.files[0]?.ignored).toEqual({ set_next_node: 1 })
  })

  it('takes task and first page apart, groups by the task in the file name, and ends with an answer', async () => {
    const run = only(await importFixture(FIXTURE))
    expect(run).toMatchObject({ task: 'Order 2 chairs.', group: 'tapeagents:shop.order-chairs', truncated: false })
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([[0, 'context', 'RootWebArea Home']])
  })

  it('reports a step without a kind and a third answer to two actions, and sees that the run was cut', async () => {
    const tape = JSON.parse(readFileSync(fixturePath(FIXTURE), 'utf8'))
    const [page] = tape.steps
    const steps = [...tape.steps.slice(0, 9), page, { text: 'no kind' }]
    const imported = await importText('tape.json', JSON.stringify({ ...tape, steps }))
    expect(imported.files[0]?.damage).toEqual([
      { index: 9, reason: 'duplicate result of call (no id)' },
      { index: 10, reason: 'step has no kind' },
    ])
    expect(only(imported).truncated).toBe(true)
  })

  itWithShared('answers every action of the real tapes but the last', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories', 'long', 'tapeagents-workarena')])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    for (const run of trajectories) {
      const open = run.interactions.filter((entry) => entry.observations.length < entry.toolCalls.length)
      expect(open.filter((entry) => entry.index < run.interactions.length - 1)).toEqual([])
    }
    expect(trajectories.map((run) => [run.interactions.length, run.truncated])).toEqual([
      [19, false],
      [39, true],
    ])
  })
})
