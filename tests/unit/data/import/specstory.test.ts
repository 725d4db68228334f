import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const log = readFileSync(fixturePath('specstory.md'), 'utf8')

describe('SpecStory', () => {
  it('puts the blocks of one response together: thought, words and tool uses that came back together', async () => {
    const [run] = (await importFixture('specstory.md')).trajectories
    expect(run?.interactions.map((entry) => [entry.source.line, entry.toolCalls.map((call) => call.name)])).toEqual([
      [24, ['Read', 'Bash']],
      [78, ['Bash']],
      [92, ['Task']],
      [129, ['AskUserQuestion']],
      [155, []],
    ])
    expect(run?.interactions[0]).toMatchObject({ reasoning: 'Two files matter.', text: 'I read both.\n\n---' })
  })

  it('splits a tool use into the call as formatted and its result, and tells errors by their words', async () => {
    const [run] = (await importFixture('specstory.md')).trajectories
    expect(run?.interactions[0]?.toolCalls[1]?.arguments).toBe(
      'Show an old log\n\n```bash\ncat old.md\ncat new.md\n```',
    )
    expect(run?.interactions[1]?.observations).toEqual([
      { callId: null, content: 'Exit code 1\n1 failed', isError: true },
    ])
    expect(run?.interactions[3]?.observations).toEqual([{ callId: null, content: 'Yes', isError: false }])
  })

  it('leaves headers, separators and tool tags of a printed log inside the result that holds them', async () => {
    const [run] = (await importFixture('specstory.md')).trajectories
    const printed = run?.interactions[0]?.observations[1]?.content ?? ''
    expect(printed.startsWith('_**User (2026-02-01 09:00:00Z)**_')).toBe(true)
    expect(printed.endsWith('</details></tool-use>')).toBe(true)
  })

  it('makes sidechain blocks a linked sub-agent with its prompt as task, and an API error no model call', async () => {
    const { trajectories, files } = await importFixture('specstory.md')
    const [run, agent] = trajectories
    expect(agent).toMatchObject({ parent: run?.id, group: run?.group, task: 'Find all callers of total.' })
    expect(agent?.interactions.map((entry) => [entry.text, entry.observations.length])).toEqual([
      ['Searching.', 1],
      ['two callers', 0],
    ])
    expect(files[0]?.ignored).toEqual({ 'synthetic message': 1 })
  })

  it('tells a person from slash commands and from the summary of a compaction, and shares the session group', async () => {
    const [run] = (await importFixture('specstory.md')).trajectories
    expect(run?.task).toBe('Fix the rounding.')
    expect(run?.turns.map((turn) => [turn.before, turn.kind, turn.source.line])).toEqual([
      [0, 'context', 7],
      [0, 'context', 12],
      [4, 'summary', 149],
    ])
    expect(run?.group).toBe('claude-code:11111111-2222-3333-4444-555555555555')
  })

  it('ends a tool block that is never closed at the next header and reports its line', async () => {
    const torn = log.replace('1→export const total = 1\n```\n</details></tool-use>\n', '1→export con\n')
    const { trajectories, files } = await importText('torn.md', torn)
    expect(files[0]?.damage).toEqual([{ line: 38, reason: 'tool-use block is not closed: it ends at the next header' }])
    expect(trajectories[0]?.interactions.at(-1)?.text).toBe('Done.')
    expect(trajectories[0]?.interactions[0]?.toolCalls[0]?.name).toBe('Read')
  })

  it('reads a log that stops in the middle of a result, and one with BOM, CR and NUL bytes', async () => {
    const cut = log.slice(0, log.indexOf('1 failed'))
    const stopped = (await importText('cut.md', cut)).trajectories[0]
    expect(stopped?.interactions.map((entry) => entry.observations.length)).toEqual([2, 1])
    const dirty = `\ufeff${log.replace('I read both.', 'I read\0 both.').replaceAll('\n', '\r\n')}`
    const read = await importText('dirty.md', dirty)
    expect(read.trajectories[0]?.interactions).toHaveLength(5)
    expect(read.files[0]?.damage).toEqual([{ line: 32, reason: '1 NUL bytes dropped' }])
  })

  itWithShared('counts the model calls of the real exports, 1.5 to 3.3 times below their block headers', async () => {
    const { files } = await importFiles([sharedPath('trajectories', 'long', 'specstory')])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    const index = readFileSync(sharedPath('trajectories', 'long', 'INDEX.csv'), 'utf8')
    for (const file of files) {
      const line = index.split('\n').find((row) => row.startsWith(`${file.file},`)) ?? ''
      const headers = Number(/specstory-md\([^)]*\),(\d+),/.exec(line)?.[1])
      expect(headers / file.interactions, file.file).toBeGreaterThan(1.4)
      expect(headers / file.interactions, file.file).toBeLessThan(3.3)
    }
    expect(files.length).toBeGreaterThanOrEqual(12)
  })
})
