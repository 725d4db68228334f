import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../../src/protocol/split-history.ts'
import { fixturePath, importFixture, importText, jsonLines, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const USER = { type: 'message', role: 'user', content: 'go' }
const CALL = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }
const OUTPUT = { type: 'function_call_output', call_id: 'a', output: 'ok' }
const SAID = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] }

describe('OpenAI Responses', () => {
  it('imports a request body: reasoning, message and parallel calls as one interaction', async () => {
    const imported = await importFixture('openai-responses.json')
    const run = only(imported)
    expect(imported.files[0]?.damage).toEqual([{ index: 11, reason: 'R2: second output for "call_3"' }])
    expect(run).toMatchObject({ system: 'You fix bugs.', task: 'Fix parse.ts.', domain: 'openai-responses' })
    expect(run.interactions).toMatchObject([
      {
        actor: null,
        reasoning: 'Read it first.',
        text: 'Reading.',
        toolCalls: [
          { name: 'read', arguments: '{"path":"parse.ts"}' },
          { name: 'grep', arguments: 'export' },
        ],
        observations: [
          { callId: 'call_2', content: 'parse.ts:1' },
          { callId: 'call_1', content: 'export const x = 1\n[input image]' },
        ],
        source: { index: 1 },
      },
      { toolCalls: [{ name: 'test' }], observations: [{ content: '1 passed' }], source: { index: 9 } },
      { text: 'Done.', observations: [] },
    ])
    expect(run.turns.map(({ before, kind, text }) => [before, kind, text])).toEqual([
      [1, 'user', 'Mind the tests.'],
      [1, 'context', '[compaction]'],
    ])
  })

  it('gives exactly the text that the server reads from the same bytes', async () => {
    const run = only(await importFixture('openai-responses.json'))
    const text = readFileSync(fixturePath('openai-responses.json'), 'utf8')
    const served = splitHistory(parseHistory(text, 'openai-responses'))
    const content = (entry: (typeof run.interactions)[number]): unknown => ({ ...entry, source: null })
    expect(run.interactions.map(content)).toEqual(served.trajectory.interactions.map(content))
  })

  it('reads one item per line with the line as source, and one body per line as one run each', async () => {
    const items = only(await importText('items.jsonl', jsonLines(USER, CALL, OUTPUT, SAID)))
    expect(items.interactions.map(({ source }) => source.line)).toEqual([2, 4])
    const response = { id: 'resp_1', object: 'response', status: 'incomplete', output: [SAID] }
    const { trajectories } = await importText('bodies.jsonl', jsonLines({ input: [USER, CALL, OUTPUT] }, response))
    expect(trajectories.map(({ interactions, truncated }) => [interactions.length, truncated])).toEqual([
      [1, false],
      [1, true],
    ])
  })

  it('puts the output of a logged response behind the input of its request', async () => {
    const run = only(await importText('both.json', JSON.stringify({ input: [USER, CALL, OUTPUT], output: [SAID] })))
    expect(run.interactions.map(({ text, toolCalls }) => [text, toolCalls.length])).toEqual([
      ['', 1],
      ['so', 0],
    ])
  })

  it('leaves out an item of no known shape and reports it', async () => {
    const imported = await importText('bad.json', JSON.stringify([USER, { ...CALL, call_id: 7 }, CALL, OUTPUT, SAID]))
    expect(only(imported).interactions).toHaveLength(2)
    expect(imported.files[0]?.damage.map(({ index }) => index)).toEqual([1])
  })

  it.each([
    [
      'plain words in a chat list',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
      'openai-chat or anthropic',
    ],
    ['typed items among plain words', [{ role: 'user', content: 'a' }, CALL, OUTPUT], 'openai-responses'],
    [
      'a request body with a list as input',
      {
        input: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      'openai-responses',
    ],
    [
      'records that only share a type name',
      [
        { type: 'reasoning', text: 'a' },
        { type: 'message', message: {} },
      ],
      'none',
    ],
  ])('takes %s for what it is', async (_, document, expected) => {
    const { files } = await importText('log.json', JSON.stringify(document))
    const [file] = files
    const said = file?.format ?? (file?.error?.code === 'format-unknown' ? 'none' : 'openai-chat or anthropic')
    expect(said).toBe(expected)
  })

  itWithShared('imports the responses with a compaction and with encrypted reasoning', async () => {
    const paths = ['openai-compaction.1.json', 'azure-reasoning-encrypted-content.1.json'].map((name) =>
      sharedPath('trajectories', 'provider-compaction', name),
    )
    const { trajectories } = await importFiles(
      [...paths, sharedPath('trajectories', 'synthetic-shapes', 'openai-responses-with-compaction.json')],
      { format: 'auto' },
    )
    expect(trajectories.map(({ domain, interactions }) => [domain, interactions.length])).toEqual([
      ['openai-responses', 1],
      ['openai-responses', 1],
      ['openai-responses', 2],
    ])
    // 41 kB of ciphertext are no text.
    expect(trajectories[0]?.turns).toMatchObject([{ kind: 'context', text: '[compaction]' }])
    expect(trajectories[1]?.interactions[0]?.reasoning).toContain('Compiling final result')
  })
})
