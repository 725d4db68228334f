import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, jsonLines, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('Gemini contents', () => {
  it('imports a request body: pairs by id or name, errors, a compression as a summary and no interaction', async () => {
    const imported = await importFixture('gemini-contents.json')
    const run = only(imported)
    expect(run).toMatchObject({ system: 'You ship exports.', task: 'Ship the export.', domain: 'gemini-contents' })
    expect(run.interactions.map((entry) => [entry.reasoning, entry.text, entry.source.index])).toEqual([
      ['List first.', '', 2],
      ['', '', 4],
      ['', 'b.ts is missing.', 9],
    ])
    expect(run.interactions[0]?.toolCalls).toEqual([
      { id: null, name: 'ls', arguments: '{"dir":"src","limit":12345678901234567890}' },
    ])
    expect(run.interactions.map(({ observations }) => observations)).toEqual([
      [{ callId: 'ls-1', content: 'a.ts\nb.ts', isError: false }],
      [
        { callId: 'k2', content: 'ENOENT', isError: true },
        { callId: 'k1', content: '<tool_output_masked>\nhead\n</tool_output_masked>', isError: false },
      ],
      [],
    ])
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text, turn.source.index])).toEqual([
      [0, 'context', '<session_context>\nToday is Monday.\n</session_context>', 0],
      [1, 'user', 'Mind b.ts.', 3],
      [2, 'summary', '<state_snapshot>a.ts was read</state_snapshot>', 6],
      [2, 'user', 'go on', 8],
    ])
    expect(imported.files[0]).toMatchObject({ damage: [], ignored: { 'answer to a summary': 1 } })
  })

  it('reads bare contents, the history of a chat, and JSONL of contents or bodies', async () => {
    const { contents } = JSON.parse(readFileSync(fixturePath('gemini-contents.json'), 'utf8')) as {
      contents: readonly object[]
    }
    const whole = only(await importFixture('gemini-contents.json'))
    const texts = (run: typeof whole): unknown =>
      run.interactions.map(({ text, observations }) => [text, observations.map(({ content }) => content)])
    for (const [name, text] of [
      ['list.json', JSON.stringify(contents, null, 1)],
      ['chat.json', JSON.stringify({ history: contents })],
      ['contents.jsonl', jsonLines(...contents)],
    ] as const)
      expect(texts(only(await importText(name, text)))).toEqual(texts(whole))
    const bodies = await importText('bodies.jsonl', jsonLines({ contents }, { contents: contents.slice(1) }))
    expect(bodies.trajectories.length).toBe(2)
  })

  it('takes the words of a compression for a model call where no state stands before them', async () => {
    const contents = [
      { role: 'user', parts: [{ text: 'Here is more context.' }] },
      { role: 'model', parts: [{ text: 'Got it. Thanks for the additional context!' }] },
    ]
    expect(only(await importText('c.json', JSON.stringify(contents))).interactions.length).toBe(1)
  })

  it('reports responses that answer nothing, and leaves out contents that are none', async () => {
    const imported = await importText(
      'c.jsonl',
      jsonLines(
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'ls', response: {} } }] },
        { role: 'model', parts: [{ text: 5 }] },
        { role: 'model', parts: [{ text: 'done' }] },
      ),
    )
    expect(only(imported).interactions[0]?.source.line).toBe(4)
    expect(imported.files[0]?.damage.map(({ line }) => line)).toEqual([2, 3])
  })

  itWithShared('imports the shared file with a compaction', async () => {
    const path = sharedPath('trajectories', 'synthetic-shapes', 'gemini-contents-with-compaction.json')
    const imported = await importFiles([path])
    const run = only(imported)
    expect(run.interactions.map(({ toolCalls, observations }) => [toolCalls.length, observations.length])).toEqual([
      [2, 2],
      [0, 0],
    ])
    expect(run.task).toBe('continue')
    expect(run.turns.map(({ kind }) => kind)).toEqual(['context', 'summary'])
  })
})
