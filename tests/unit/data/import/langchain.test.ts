import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, jsonLines, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

describe('LangChain dumps', () => {
  it('counts a call once that stands in tool_calls, in a block and among the invalid ones', async () => {
    const run = only(await importFixture('langchain.json'))
    expect(run.interactions[0]).toMatchObject({
      reasoning: 'Use calc.',
      text: 'Computing.',
      toolCalls: [
        { id: 'c1', name: 'calc', arguments: '{"e":"3+3"}' },
        { id: 'c2', name: 'calc', arguments: '{"e":' },
      ],
      observations: [
        { callId: 'c2', content: 'bad arguments', isError: true },
        { callId: 'c1', content: '6', isError: false },
      ],
    })
    expect(run.interactions[1]).toMatchObject({
      toolCalls: [{ id: 'c3', name: 'note', arguments: '{"t":6}' }],
      observations: [{ callId: 'c3', content: '', isError: false }],
    })
    expect(run.interactions).toHaveLength(3)
  })

  it('keeps a summary apart from the person, and is truncated when the model was stopped', async () => {
    const run = only(await importFixture('langchain.json'))
    expect(run).toMatchObject({ system: 'Be exact.', task: '3+3?', truncated: true })
    expect(run.turns.map((turn) => [turn.before, turn.kind])).toEqual([[0, 'summary']])
  })

  it('reports a second result and what is no message', async () => {
    const [file] = (await importFixture('langchain.json')).files
    expect(file?.damage).toEqual([
      { index: 9, reason: 'duplicate result of call c3' },
      { index: 10, reason: 'record is no LangChain message' },
    ])
    expect(file?.ignored).toEqual({ 'message without a part in the conversation': 1 })
  })

  it('reads plain dicts in both forms, one list or one message per line', async () => {
    const flat = [
      { type: 'human', content: 'go' },
      { type: 'ai', content: 'ok', tool_calls: [] },
    ]
    const nested = flat.map(({ type, ...data }) => ({ type, data }))
    const texts = [JSON.stringify(flat, null, 1), JSON.stringify({ messages: nested }, null, 1), jsonLines(...flat)]
    for (const [index, text] of texts.entries()) {
      const run = only(await importText(index === 2 ? 'a.jsonl' : 'a.json', text))
      expect(run).toMatchObject({ format: 'langchain', task: 'go', interactions: [{ text: 'ok' }] })
    }
    const { trajectories } = await importText('b.jsonl', jsonLines(flat, flat))
    expect(trajectories.map((run) => run.source)).toHaveLength(2)
    expect(trajectories[0]?.group).toBe(trajectories[1]?.group)
  })

  it('keeps the whole messages of a torn file', async () => {
    const text = readFileSync(fixturePath('langchain.json'), 'utf8')
    const result = await importText('a.json', text.slice(0, text.indexOf('"RemoveMessage"')))
    expect(only(result).interactions).toHaveLength(2)
    expect(result.files[0]?.damage[0]?.reason).toMatch(/torn/)
  })

  itWithShared('reads the real dump: each read at its call, once', async () => {
    const run = only(await importFiles([sharedPath('trajectories/langchain')]))
    expect(run.interactions.map((entry) => [entry.toolCalls.length, entry.observations.length])).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
    ])
    expect(run.interactions[0]?.text).toBe(
      "I'll read the file summarization.py in chunks of 500 lines and then provide a summary.",
    )
  })
})
