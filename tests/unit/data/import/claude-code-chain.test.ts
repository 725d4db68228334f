import { describe, expect, it } from 'vitest'
import { type ImportResult, importFiles } from '../../../../data/import/import-files.ts'
import {
  assistantLine,
  callBlock,
  type Place,
  resultBlock,
  textBlock,
  userLine,
} from '../../../fixtures/claude-code-lines.ts'
import { importText, jsonLines, only, withFolder } from '../../../fixtures/import-log.ts'

const at = (uuid: string, parent: string | null, second?: number): Place =>
  second === undefined ? { uuid, parent } : { uuid, parent, at: second }

function importBranches(...lines: readonly object[]): Promise<ImportResult> {
  return withFolder({ 's.jsonl': jsonLines(...lines) }, (folder) => importFiles([folder], { allBranches: true }))
}

const texts = (result: ImportResult): unknown =>
  result.trajectories.map((run) => [run.id, run.interactions.map((entry) => entry.text)])

/** Question, answer, then a rewind to the first answer and another question. */
const REWOUND = [
  userLine(at('u', null, 1), 'go'),
  assistantLine(at('a', 'u', 2), 'm1', textBlock('one')),
  userLine(at('v', 'a', 3), 'wrong way'),
  assistantLine(at('b', 'v', 4), 'm2', textBlock('rewound')),
  userLine(at('w', 'a', 5), 'right way'),
  assistantLine(at('c', 'w', 6), 'm3', textBlock('kept')),
]

describe('branches of a Claude Code session', () => {
  it('are left out and counted by default', async () => {
    const result = await importText('s.jsonl', jsonLines(...REWOUND))
    expect(texts(result)).toEqual([['claude-code/s', ['one', 'kept']]])
    expect(result.files[0]?.ignored).toEqual({ 'message of a dead branch': 2 })
  })

  it('are runs of their own with --all-branches: the same group and beginning, the live one first', async () => {
    const result = await importBranches(...REWOUND)
    expect(texts(result)).toEqual([
      ['claude-code/s', ['one', 'kept']],
      ['claude-code/s~branch2', ['one', 'rewound']],
    ])
    const [live, branch] = result.trajectories
    expect(branch?.group).toBe(live?.group)
    expect(branch?.task).toBe('go')
    expect(branch?.turns.map((turn) => turn.text)).toEqual(['wrong way'])
    expect(result.files[0]).toMatchObject({ runs: 2, ignored: {}, damage: [] })
  })

  it('are one each for an edit of the first prompt and an answer that was asked for again', async () => {
    const result = await importBranches(
      userLine(at('u1', null, 1), 'first wording'),
      assistantLine(at('a1', 'u1', 2), 'm1', textBlock('to the first')),
      userLine(at('u2', null, 3), 'second wording'),
      assistantLine(at('a2', 'u2', 4), 'm2', textBlock('tried')),
      assistantLine(at('a3', 'u2', 5), 'm3', textBlock('tried again')),
    )
    expect(texts(result)).toEqual([
      ['claude-code/s', ['tried again']],
      ['claude-code/s~branch2', ['to the first']],
      ['claude-code/s~branch3', ['tried']],
    ])
  })

  it('do not arise from parallel calls whose results hang on different lines', async () => {
    const result = await importBranches(
      userLine(at('u', null), 'go'),
      assistantLine(at('a1', 'u'), 'm', callBlock('t1')),
      assistantLine(at('a2', 'a1'), 'm', callBlock('t2')),
      userLine(at('r1', 'a1'), [resultBlock('t1', 'one')]),
      userLine(at('r2', 'a2'), [resultBlock('t2', 'two')]),
      assistantLine(at('b', 'r2'), 'n', textBlock('done')),
    )
    expect(texts(result)).toEqual([['claude-code/s', ['', 'done']]])
    expect(only(result).interactions[0]?.observations).toHaveLength(2)
  })

  it('report what is wrong in their shared beginning once', async () => {
    const result = await importBranches(userLine(at('r', 'lost'), [resultBlock('gone', 'stray')]), ...REWOUND.slice(1))
    const reasons = result.files[0]?.damage.map((entry) => entry.reason) ?? []
    expect(new Set(reasons).size).toBe(reasons.length)
  })
})

describe('a damaged order', () => {
  it('of a circle that the newest message hangs on keeps what the circle leads to, and says where', async () => {
    const result = await importText(
      's.jsonl',
      jsonLines(
        userLine(at('u', 'a'), 'go'),
        assistantLine(at('a', 'u'), 'm1', textBlock('one')),
        assistantLine(at('b', 'a'), 'm2', textBlock('two')),
      ),
    )
    expect(texts(result)).toEqual([['claude-code/s', ['one', 'two']]])
    expect(result.files[0]?.damage).toEqual([{ line: 2, reason: expect.stringContaining('circle') }])
  })

  it('of a clock that was set back takes the order of the file, and says so', async () => {
    const result = await importText(
      's.jsonl',
      jsonLines(
        userLine(at('u', null, 7200), 'go'),
        assistantLine(at('a', 'u', 7201), 'm1', textBlock('before the change')),
        userLine(at('v', 'u', 0), 'again'),
        assistantLine(at('b', 'v', 1), 'm2', textBlock('after the change')),
      ),
    )
    expect(texts(result)).toEqual([['claude-code/s', ['after the change']]])
    expect(result.files[0]?.damage).toEqual([{ line: 3, reason: expect.stringContaining('clock goes back by 7200 s') }])
  })

  it('of seconds between parallel lines is none', async () => {
    const result = await importText(
      's.jsonl',
      jsonLines(userLine(at('u', null, 20), 'go'), assistantLine(at('a', 'u', 5), 'm1', textBlock('one'))),
    )
    expect(result.files[0]?.damage).toEqual([])
  })
})

describe('a uuid that stands twice', () => {
  it('with the same message is a repeated write', async () => {
    const answer = assistantLine(at('a', 'u'), 'm1', textBlock('one'))
    const result = await importText('s.jsonl', jsonLines(userLine(at('u', null), 'go'), answer, answer))
    expect(texts(result)).toEqual([['claude-code/s', ['one']]])
    expect(result.files[0]).toMatchObject({ damage: [], ignored: { 'repeated record': 1 } })
  })

  it('with another message keeps both and reports it; links mean the nearest line above', async () => {
    const result = await importText(
      's.jsonl',
      jsonLines(
        userLine(at('u', null), 'go'),
        assistantLine(at('a', 'u'), 'm1', textBlock('one')),
        assistantLine(at('a', 'a'), 'm2', textBlock('two')),
        assistantLine(at('b', 'a'), 'm3', textBlock('three')),
      ),
    )
    expect(texts(result)).toEqual([['claude-code/s', ['one', 'two', 'three']]])
    expect(result.files[0]?.damage).toEqual([{ line: 3, reason: 'uuid a stands on line 2 too: both are kept' }])
  })
})
