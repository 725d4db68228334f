import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('LangGraph thread state', () => {
  it('pairs parallel calls with their results by id, in any order, and keeps errors', async () => {
    const run = only(await importFixture('langgraph.thread.json'))
    expect(run.interactions[0]).toMatchObject({
      reasoning: 'Plan first.',
      toolCalls: [
        { id: 'w:0', name: 'write_file', arguments: '{"path":"a.html"}' },
        { id: 'r:1', name: 'read_file' },
      ],
      observations: [
        { callId: 'r:1', content: '# B', isError: false },
        { callId: 'w:0', content: 'Permission denied', isError: true },
      ],
    })
    expect(run.interactions[1]).toMatchObject({ reasoning: 'Blue.', text: 'Done, it is' })
  })

  it('keeps later system messages as context, groups by thread, and sees an answer cut at its length', async () => {
    const run = only(await importFixture('langgraph.thread.json'))
    expect(run).toMatchObject({ id: 'langgraph/th-1', system: '', task: 'Make a site.', truncated: true })
    expect(run.turns.map((turn) => [turn.before, turn.kind])).toEqual([
      [0, 'context'],
      [1, 'user'],
    ])
  })

  it('keeps the complete messages of a torn state, and reports unknown messages and stray results', async () => {
    const text = readFileSync(fixturePath('langgraph.thread.json'), 'utf8')
    const torn = await importText('torn.thread.json', text.slice(0, text.indexOf('Permission denied')))
    expect(only(torn).interactions).toHaveLength(1)
    expect(torn.files[0]?.damage).toHaveLength(1)
    const state = JSON.parse(text)
    const [human, , ai, tool] = state.values.messages
    const messages = [human, { type: 'remove', id: 'x' }, { ...tool, tool_call_id: 'other' }, ai, null]
    const imported = await importText('t.json', JSON.stringify({ ...state, values: { messages } }))
    expect(imported.files[0]?.damage).toEqual([
      { index: 1, reason: 'message has no known type, or no content' },
      { index: 2, reason: 'orphan result of call other' },
      { index: 4, reason: 'message has no known type, or no content' },
    ])
  })

  itWithShared('imports the real threads with every result at its call', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories', 'long', 'deer-flow')])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    expect(trajectories.length).toBeGreaterThanOrEqual(5)
    for (const run of trajectories)
      expect(run.interactions.every((entry) => entry.observations.length === entry.toolCalls.length)).toBe(true)
  })
})
