import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, jsonLines, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

type Run = { readonly child_runs?: readonly Run[]; readonly [key: string]: unknown }

const flatten = (run: Run): readonly object[] => {
  const { child_runs: children = [], ...own } = run
  return [own, ...children.flatMap(flatten)]
}

describe('LangSmith run trees', () => {
  it('makes each llm run one interaction, results from the next inputs, else from the tool run', async () => {
    const [run] = (await importFixture('langsmith.json')).trajectories
    expect(run).toMatchObject({ system: 'Be exact.', task: '2+2?', group: 'langsmith:th-1' })
    expect(run?.interactions.map((entry) => [entry.text, entry.observations])).toEqual([
      [
        '',
        [
          { callId: 'k1', content: "it's 4", isError: false },
          { callId: 'k2', content: 'agreed', isError: false },
        ],
      ],
      ['4', []],
      ['', [{ callId: 'k3', content: 'ValueError: gone', isError: true }]],
    ])
  })

  it('keeps a turn that repeats earlier words, and counts a failed call', async () => {
    const result = await importFixture('langsmith.json')
    expect(result.trajectories[0]?.turns).toMatchObject([{ before: 2, kind: 'user', text: '2+2?' }])
    expect(result.files[0]).toMatchObject({ damage: [], ignored: { 'failed model call': 1 } })
  })

  it('makes llm runs inside a tool a sub-agent of the call that started it', async () => {
    const [, child] = (await importFixture('langsmith.json')).trajectories
    expect(child).toMatchObject({
      id: 'langsmith/r0/r3',
      parent: 'langsmith/r0',
      parentCall: 'k2',
      group: 'langsmith:th-1',
      task: 'sum',
      interactions: [{ text: 'agreed' }],
    })
  })

  it('gives the same runs from a flat list in any order and from JSONL', async () => {
    const tree: Run = JSON.parse(readFileSync(fixturePath('langsmith.json'), 'utf8'))
    const flat = flatten(tree).map((run, index) => ({ ...run, dotted_order: String(index).padStart(3, '0') }))
    const whole = await importFixture('langsmith.json')
    const shape = (result: typeof whole): unknown =>
      result.trajectories.map(({ id, task, turns, interactions, parentCall }) => [
        id,
        task,
        turns.map((turn) => [turn.before, turn.text]),
        interactions.map(({ source, ...entry }) => entry),
        parentCall,
      ])
    expect(shape(await importText('a.json', JSON.stringify(flat.toReversed(), null, 1)))).toEqual(shape(whole))
    expect(shape(await importText('a.jsonl', jsonLines(...flat)))).toEqual(shape(whole))
  })

  it('reads repr results and an agent of plain text, whose tools answer in order', async () => {
    const run = (id: string, type: string, inputs: object, outputs: object) => ({
      id,
      trace_id: 't',
      run_type: type,
      name: 'calc',
      inputs,
      outputs,
    })
    const log = jsonLines(
      run('1', 'llm', { prompts: ['Question: 2+2?'] }, { generations: [[{ text: 'Action: calc' }]] }),
      run('2', 'tool', { input: "{'e': '2+2'}" }, { output: '4' }),
      run('3', 'llm', { prompts: ['Question: 2+2?\nObservation: 4'] }, { generations: [[{ text: 'Final: 4' }]] }),
    )
    expect(only(await importText('a.jsonl', log)).interactions).toMatchObject([
      { text: 'Action: calc', observations: [{ content: '4' }] },
      { text: 'Final: 4' },
    ])
  })

  it('reads runs whose parents form a circle, each once', async () => {
    const run = (id: string, parent: string, text: string) => ({
      id,
      trace_id: 't',
      parent_run_id: parent,
      run_type: 'llm',
      inputs: {},
      outputs: { generations: [[{ text }]] },
    })
    const log = jsonLines(run('a', 'b', 'one'), run('b', 'a', 'two'), run('c', 'c', 'three'))
    const { interactions } = only(await importText('a.jsonl', log))
    expect(interactions.map((entry) => entry.text).toSorted()).toEqual(['one', 'three', 'two'])
  })

  it('recovers a damaged JSONL: a torn run, a record that is none', async () => {
    const flat = flatten(JSON.parse(readFileSync(fixturePath('langsmith.json'), 'utf8')))
    const lines = jsonLines(...flat)
      .trimEnd()
      .split('\n')
    const result = await importText(
      'a.jsonl',
      [...lines.slice(0, -1), '{"id":"x"}', lines.at(-1)?.slice(0, 50)].join('\n'),
    )
    expect(result.trajectories[0]?.interactions).toHaveLength(3)
    expect(result.files[0]?.damage.map((entry) => entry.line)).toEqual([lines.length, lines.length + 1])
  })

  itWithShared('reads the shared run: two model calls, the tool at its call', async () => {
    const run = only(await importFiles([sharedPath('trajectories/synthetic-shapes/langsmith-run.json')]))
    expect(run.interactions.map((entry) => entry.observations.map(({ content }) => content))).toEqual([['4'], []])
  })
})
