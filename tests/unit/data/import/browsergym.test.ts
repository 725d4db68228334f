import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const lines = readFileSync(fixturePath('browsergym.jsonl'), 'utf8').trimEnd().split('\n')

describe('BrowserGym', () => {
  it('answers each action with the page of the next line, and marks it by last_action_error', async () => {
    const run = only(await importFixture('browsergym.jsonl'))
    const pages = run.interactions.map((entry) => entry.observations.map(({ content, isError }) => [content, isError]))
    expect(pages.map((answers) => answers.length)).toEqual([1, 1, 1, 0])
    expect(pages[0]?.[0]?.[1]).toBe(true)
    expect(pages[0]?.[0]?.[0]).toBe(
      "Error of the last action: TimeoutError: 500ms\nActive page: Shop (http://shop.test/)\nPage: Help (http://shop.test/help)\nRootWebArea 'Lamps'",
    )
    expect(pages[1]?.[0]?.[1]).toBe(false)
  })

  it('splits the answer into thought and action, also where a tag is missing, and keeps words without an action', async () => {
    const run = only(await importFixture('browsergym.jsonl'))
    expect(run.interactions.map((entry) => [entry.reasoning, entry.text, entry.toolCalls[0]?.arguments])).toEqual([
      ['Open the lamps.', '', "click('1')"],
      ['Sort them.', '', "select_option('9', 'price')"],
      ['Answer.', 'The cheapest one costs 4.', undefined],
      ['Look again.', '', 'scroll(0, 200)'],
    ])
    expect(run.interactions.map((entry) => entry.toolCalls[0]?.name)).toEqual([
      'click',
      'select_option',
      undefined,
      'scroll',
    ])
  })

  it('takes the goal as task, the first page as context, later chat as a user turn, and the step limit as a cut', async () => {
    const run = only(await importFixture('browsergym.jsonl'))
    expect(run).toMatchObject({ task: 'Find the cheapest lamp.', group: 'shopbench:task_7', truncated: true })
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.source.line])).toEqual([
      [0, 'context', 2],
      [3, 'user', 5],
    ])
  })

  it('reports a torn line, a record without a page and a gap, whose page then answers nothing', async () => {
    const [summary = '', first = '', second = '', , last = ''] = lines
    const damaged = [summary, first, second.slice(0, 300), '{"step":2,"action":"x"}', last, ''].join('\n')
    const imported = await importText('webarena__task_7.jsonl', damaged)
    expect(imported.files[0]?.damage.map((entry) => [entry.line, entry.reason])).toEqual([
      [3, 'line is no whole JSON record (torn write?)'],
      [4, 'record is no step: it has no obs or no action'],
      [5, 'step 3 does not follow on step 0: its page answers a missing step'],
    ])
    const run = only(imported)
    expect(run.interactions.map((entry) => entry.observations.length)).toEqual([0, 0])
    expect(run.turns.map((turn) => turn.kind)).toEqual(['context', 'context', 'user'])
  })

  it('names the task by the file where the log has no summary', async () => {
    const run = only(await importText('webarena__task_7.jsonl', `${lines[1]}\n${lines[2]}\n`))
    expect(run).toMatchObject({ group: 'webarena:task_7', truncated: false })
  })

  itWithShared('imports the real runs whole: every action but the last is answered, and the limit shows', async () => {
    const { trajectories, files } = await importFiles([sharedPath('trajectories', 'long', 'madeagents-web')])
    expect(files.flatMap((file) => file.damage)).toEqual([])
    expect(trajectories.length).toBeGreaterThanOrEqual(32)
    const unanswered = trajectories.flatMap((run) =>
      run.interactions.slice(0, -1).filter((entry) => entry.observations.length !== 1),
    )
    expect(unanswered).toEqual([])
    expect(trajectories.filter((run) => run.truncated).map((run) => run.group)).toEqual([
      'webarena:task_159',
      'webarena:task_509',
      'webarena:task_765',
    ])
  })
})
