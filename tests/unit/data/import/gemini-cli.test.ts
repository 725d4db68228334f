import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, jsonLines, only, withFolder } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const header = { sessionId: 's', projectHash: 'p' }

describe('Gemini CLI sessions', () => {
  it('replays the JSONL: the last form of a message at its first place, a rewind without what it took back', async () => {
    const run = only(await importFixture('gemini-cli-session.jsonl'))
    expect(run.interactions.map((entry) => [entry.text, entry.source.line])).toEqual([
      ['', 4],
      ['Stopped.', 10],
      ['Reading.', 14],
    ])
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [0, 'context', '<session_context>\nToday is Monday.\n</session_context>'],
      [0, 'context', '<hook_context>tracked</hook_context>'],
      [1, 'user', 'Stop there.'],
      [2, 'summary', '<state_snapshot>a and b exist</state_snapshot>'],
      [2, 'user', 'Read b.'],
    ])
    expect(run.task).toBe('List the files.')
  })

  it('pairs every tool call with its result, leaves a cancelled one open, and marks an error', async () => {
    const run = only(await importFixture('gemini-cli-session.jsonl'))
    expect(run.interactions[0]).toMatchObject({
      reasoning: 'Listing\nUse ls.',
      toolCalls: [{ id: 'ls-1' }, { id: 'rm-2' }, { id: 'rd-3' }],
      observations: [
        { callId: 'ls-1', content: 'a\nb', isError: false },
        { callId: 'rd-3', content: 'ENOENT', isError: true },
      ],
    })
  })

  it('pairs function responses that stand in a message of their own, and keeps thoughts out of the text', async () => {
    const run = only(await importFixture('gemini-cli-session.jsonl'))
    expect(run.interactions[2]).toMatchObject({
      reasoning: '**Plan** read it',
      text: 'Reading.',
      observations: [{ callId: 'rd-4', content: '<tool_output_masked>\nhead\n</tool_output_masked>' }],
    })
  })

  it('counts an empty model message as a failed call, and is truncated where the session ends in an error', async () => {
    const result = await importFixture('gemini-cli-session.jsonl')
    expect(only(result).truncated).toBe(true)
    expect(result.files[0]).toMatchObject({
      damage: [],
      ignored: { 'message of a dead branch': 2, 'failed model call': 1, 'answer to a summary': 1, 'error message': 1 },
    })
  })

  it('gives what a rewind took back as a branch of its own when asked', async () => {
    const log = readFileSync(fixturePath('gemini-cli-session.jsonl'), 'utf8')
    await withFolder({ 'a.jsonl': log }, async (folder) => {
      const { trajectories } = await importFiles([folder], { allBranches: true })
      expect(trajectories.map((run) => [run.id, run.interactions.map((entry) => entry.text)])).toEqual([
        ['gemini-cli/gem-1', ['', 'Stopped.', 'Reading.']],
        ['gemini-cli/gem-1~branch2', ['', 'Deleting.']],
      ])
    })
  })

  it('reports a rewind to an unknown message and a torn line, and keeps the rest', async () => {
    const log = `${jsonLines(header, { id: 'u', type: 'user', content: 'go' })}{"id":"g","ty\n${jsonLines(
      { $rewindTo: 'nowhere' },
      { id: 'g1', type: 'gemini', content: 'went' },
      { other: true },
    )}`
    const result = await importText('a.jsonl', log)
    expect(only(result).interactions).toMatchObject([{ text: 'went' }])
    expect(result.files[0]?.damage.map((entry) => entry.line)).toEqual([3, 4, 6])
  })

  it('joins a text and the tools of one response, and keeps two responses apart', async () => {
    const tokens = { input: 1, output: 1 }
    const log = jsonLines(
      header,
      { id: 'u', type: 'user', content: 'go' },
      { id: 'g1', type: 'gemini', content: 'Now', tokens },
      { id: 'g2', type: 'gemini', content: '', toolCalls: [{ id: 'a', name: 'ls', args: {}, status: 'success' }] },
      { id: 'g3', type: 'gemini', content: 'one', tokens },
      { id: 'g4', type: 'gemini', content: 'two', tokens },
    )
    const run = only(await importText('a.jsonl', log))
    expect(run.interactions.map((entry) => [entry.text, entry.toolCalls.length])).toEqual([
      ['Now', 1],
      ['one', 0],
      ['two', 0],
    ])
  })

  it('joins the pieces of a streamed text, and splits at results', async () => {
    const run = only(await importFixture('gemini-cli-stream.jsonl'))
    expect(run.interactions.map((entry) => [entry.text, entry.observations])).toEqual([
      ['', [{ callId: 'activate_skill-1', content: 'Skill "x" not found.', isError: true }]],
      ['', [{ callId: 'read_file-2', content: '', isError: false }]],
      ['The file is empty.', []],
    ])
    expect(run.truncated).toBe(false)
  })

  it('is truncated when a stream has no successful result record', async () => {
    const lines = readFileSync(fixturePath('gemini-cli-stream.jsonl'), 'utf8').trimEnd().split('\n')
    expect(only(await importText('a.jsonl', lines.slice(0, -1).join('\n'))).truncated).toBe(true)
  })

  itWithShared('reads the shared session: two parallel calls, the cancelled one open', async () => {
    const run = only(await importFiles([sharedPath('trajectories/synthetic-shapes/gemini-cli-session.json')]))
    expect(run.interactions.map((entry) => [entry.toolCalls.length, entry.observations.length])).toEqual([[2, 1]])
    expect(run.turns).toMatchObject([{ before: 1, kind: 'user', text: 'ok' }])
  })
})
