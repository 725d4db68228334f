import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only, withFolder } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('Google ADK sessions', () => {
  it('makes a model event one interaction of its author, thoughts apart from text', async () => {
    const run = only(await importFixture('google-adk.json'))
    expect(run.interactions.map((entry) => [entry.actor, entry.reasoning, entry.text, entry.toolCalls.length])).toEqual(
      [
        ['root', 'Hand over.', '', 1],
        ['booker', '', '', 2],
        ['checker', '', '', 1],
        ['booker', '', 'No room.', 0],
        ['booker', '', 'Fine.', 0],
      ],
    )
  })

  it('pairs results without ids by name and order in the batch of their author, or by the event they name', async () => {
    const run = only(await importFixture('google-adk.json'))
    expect(
      run.interactions.map((entry) => entry.observations.map(({ content, isError }) => [content, isError])),
    ).toEqual([
      [['{"result":null}', false]],
      [
        ['none on Monday', false],
        ['closed on Tuesday', true],
      ],
      [['open', false]],
      [],
      [],
    ])
  })

  it('follows a rewind, keeps a compaction as summary, and counts pieces, state updates and failed calls', async () => {
    const result = await importFixture('google-adk.json')
    expect(only(result).turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [4, 'summary', 'Monday and Tuesday are out.'],
      [4, 'user', 'Never mind.'],
    ])
    expect(result.files[0]).toMatchObject({
      damage: [],
      ignored: {
        'message of a dead branch': 2,
        'partial event': 1,
        'event without content': 2,
        'failed model call': 1,
      },
    })
  })

  it('gives what a rewind took back as a branch of its own when asked', async () => {
    await withFolder({ 'a.json': readFileSync(fixturePath('google-adk.json')) }, async (folder) => {
      const { trajectories } = await importFiles([folder], { allBranches: true })
      expect(trajectories.map((run) => [run.id, run.interactions.at(-1)?.text])).toEqual([
        ['google-adk/adk-1', 'Fine.'],
        ['google-adk/adk-1~branch2', 'Booked Sunday.'],
      ])
    })
  })

  it('reads camelCase, pairs by id where there is one, and reports a damaged event and an unknown rewind', async () => {
    const event = (author: string, parts: readonly object[], role = 'model') => ({
      author,
      invocationId: 'i',
      content: { role, parts },
    })
    const log = {
      id: 's',
      events: [
        event('user', [{ text: 'go' }], 'user'),
        event('a', [
          { functionCall: { id: 'x', name: 'f', args: {} } },
          { functionCall: { id: 'y', name: 'f', args: {} } },
        ]),
        event('a', [{ functionResponse: { id: 'y', name: 'f', response: { output: 'Y' } } }], 'user'),
        { content: {} },
        { author: 'user', actions: { rewindBeforeInvocationId: 'nowhere' } },
        event('a', [{ functionResponse: { id: 'z', name: 'g', response: {} } }], 'user'),
      ],
    }
    const result = await importText('a.json', JSON.stringify(log, null, 1))
    expect(only(result).interactions[0]?.observations).toEqual([{ callId: 'y', content: 'Y', isError: false }])
    expect(result.files[0]?.damage).toEqual([
      { index: 3, reason: 'event has no author' },
      { index: 4, reason: 'rewind to the unknown invocation nowhere: nothing taken back' },
      { index: 5, reason: 'orphan result of call z' },
    ])
  })

  itWithShared('reads the real sessions: every call answered, the authors as actors', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories/google-adk')])
    expect(trajectories.map((run) => run.interactions.length)).toEqual([3, 6])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    for (const run of trajectories)
      for (const entry of run.interactions) expect(entry.observations).toHaveLength(entry.toolCalls.length)
    expect(new Set(trajectories[1]?.interactions.map((entry) => entry.actor))).toEqual(
      new Set([
        'spark_assistant',
        'research_plan_agent',
        'question_generation_agent',
        'information_retrieval_agent',
        'summary_agent',
      ]),
    )
  })
})
