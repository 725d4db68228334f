import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importFixture, importText, jsonLines, only, withFolder } from '../../../fixtures/import-log.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const meta = (payload: object) => ({ type: 'session_meta', payload })
const item = (payload: object) => ({ type: 'response_item', payload })
const message = (role: string, text: string) =>
  item({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] })
const call = (id: string) => item({ type: 'function_call', name: 'exec_command', arguments: '{}', call_id: id })
const output = (id: string, text: unknown) => item({ type: 'function_call_output', call_id: id, output: text })
const event = (type: string, more: object = {}) => ({ type: 'event_msg', payload: { type, ...more } })

describe('Codex rollouts', () => {
  it('makes reasoning, text and calls up to the first output one interaction, with outputs in any order', async () => {
    const run = only(await importFixture('codex.jsonl'))
    expect(run.interactions.map((entry) => [entry.source.line, entry.toolCalls.map(({ name }) => name)])).toEqual([
      [8, ['exec_command', 'exec_command']],
      [16, ['apply_patch']],
      [19, []],
      [24, ['web_search', 'local_shell']],
      [31, []],
    ])
    expect(run.interactions[0]).toMatchObject({ reasoning: 'Two greps.', text: 'Looking.' })
    expect(run.interactions[0]?.observations).toEqual([
      { callId: 'c2', content: 'b1\nb2', isError: false },
      { callId: 'c1', content: 'no such folder', isError: true },
    ])
    expect(run.interactions[1]?.observations).toEqual([{ callId: 'p1', content: '', isError: false }])
  })

  it('takes permissions, AGENTS.md and the environment for context, a compaction for a summary, not for a person', async () => {
    const run = only(await importFixture('codex.jsonl'))
    expect(run).toMatchObject({ id: 'codex/codex-1', system: 'You are a coding agent.', task: 'Count the logs.' })
    expect(run.turns.map((turn) => [turn.before, turn.kind, turn.text.slice(0, 24)])).toEqual([
      [0, 'context', '<permissions instruction'],
      [0, 'context', '# AGENTS.md instructions'],
      [3, 'summary', 'Another language model s'],
      [3, 'user', 'Write it down.'],
      [4, 'context', 'late'],
    ])
  })

  it('counts the mirrors of event_msg, and reports a result without its call', async () => {
    const [file] = (await importFixture('codex.jsonl')).files
    expect(file?.damage).toEqual([{ line: 29, reason: 'orphan result of call l9' }])
    expect(file?.ignored).toMatchObject({ 'event user_message': 1, 'event exec_command_end': 1, ghost_snapshot: 1 })
  })

  it('names the size of a summary that only the provider can read', async () => {
    const history = [{ type: 'compaction', encrypted_content: 'x'.repeat(40) }]
    const log = jsonLines(
      meta({ id: 's' }),
      message('user', 'go'),
      message('assistant', 'a'),
      { type: 'compacted', payload: { message: '', replacement_history: history } },
      message('assistant', 'b'),
    )
    expect(only(await importText('a.jsonl', log)).turns).toMatchObject([
      { before: 1, kind: 'summary', text: '[encrypted summary of 40 characters]' },
    ])
  })

  it('is no interaction when a call shows nothing, and truncated when the last turn was aborted', async () => {
    const log = jsonLines(
      meta({ id: 's' }),
      message('user', 'go'),
      message('assistant', 'first'),
      message('user', 'more'),
      item({ type: 'reasoning', summary: [], encrypted_content: 'eA==' }),
      event('turn_aborted', { reason: 'interrupted' }),
    )
    const result = await importText('a.jsonl', log)
    expect(only(result)).toMatchObject({ truncated: true, interactions: [{ text: 'first' }] })
    expect(result.files[0]?.ignored).toMatchObject({ 'model call that shows nothing': 1 })
  })

  it('follows a rollback, and keeps what it took back as a branch when asked', async () => {
    const log = jsonLines(
      meta({ id: 's' }),
      message('user', 'one'),
      message('assistant', 'first'),
      message('user', 'two'),
      call('c1'),
      output('c1', 'lost'),
      message('assistant', 'second'),
      event('thread_rolled_back', { num_turns: 1 }),
      message('user', 'three'),
      message('assistant', 'third'),
    )
    const result = await importText('a.jsonl', log)
    const live = only(result)
    expect(result.files[0]?.ignored).toMatchObject({ 'message of a dead branch': 4 })
    expect(live.interactions.map((entry) => entry.text)).toEqual(['first', 'third'])
    expect(live.turns.map((turn) => turn.text)).toEqual(['three'])
    await withFolder({ 'a.jsonl': log }, async (folder) => {
      const { trajectories } = await importFiles([folder], { allBranches: true })
      expect(trajectories.map((run) => [run.id, run.interactions.map((entry) => entry.text)])).toEqual([
        ['codex/s', ['first', 'third']],
        ['codex/s~branch2', ['first', '', 'second']],
      ])
      expect(new Set(trajectories.map((run) => run.group)).size).toBe(1)
    })
  })

  it('links a spawned thread to its parent, and puts a fork into the group of its origin', async () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: 'p', depth: 1 } } }
    const files = {
      'a-parent.jsonl': jsonLines(
        meta({ id: 'p' }),
        message('user', 'go'),
        item({ type: 'function_call', name: 'spawn_agent', arguments: '{"message":"Look."}', call_id: 'sp1' }),
        output('sp1', '{"agent_id":"c"}'),
        message('assistant', 'done'),
      ),
      'b-child.jsonl': jsonLines(meta({ id: 'c', source }), message('user', 'Look.'), message('assistant', 'seen')),
      'c-fork.jsonl': jsonLines(
        meta({ id: 'f', forked_from_id: 'p' }),
        meta({ id: 'p' }),
        message('user', 'go'),
        message('assistant', 'other'),
      ),
    }
    await withFolder(files, async (folder) => {
      const { trajectories } = await importFiles([folder])
      expect(trajectories.map(({ id, parent, parentCall, group }) => [id, parent, parentCall, group])).toEqual([
        ['codex/p', null, undefined, 'codex:p'],
        ['codex/c', 'codex/p', 'sp1', 'codex:p'],
        ['codex/f', null, undefined, 'codex:p'],
      ])
    })
  })

  it('reads rollouts from before the wrapper', async () => {
    const log = jsonLines(
      { id: 'old', timestamp: 't', instructions: 'Use tabs.' },
      { record_type: 'state' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' },
      { type: 'function_call_output', call_id: 'c1', output: '{"output":"a"}' },
    )
    expect(only(await importText('a.jsonl', log))).toMatchObject({
      id: 'codex/old',
      task: 'go',
      interactions: [{ observations: [{ content: '{"output":"a"}' }] }],
    })
  })

  it('recovers what a damaged rollout holds: BOM, CR, a torn line, a glued record, a last line without its end', async () => {
    const lines = readFileSync(fixturePath('codex.jsonl'), 'utf8').trimEnd().split('\n')
    const torn = [...lines.slice(0, 9), '{"type":"response_item","payl', `${lines[9]}${lines[10]}`, ...lines.slice(11)]
    const result = await importText('a.jsonl', `\ufeff${torn.join('\r\n')}`)
    expect(only(result).interactions).toHaveLength(5)
    expect(result.files[0]?.damage.map((entry) => entry.line)).toEqual([10, 29])
  })

  itWithShared('reads the real rollout as INDEX.csv counts it, every result at its call', async () => {
    const result = await importFiles([
      sharedPath('trajectories/long/entire-skills/6c-fb81c05ca9-0.codex-rollout.jsonl'),
    ])
    const run = only(result)
    expect(run.interactions).toHaveLength(17)
    expect(run.turns.filter((turn) => turn.kind === 'user').map((turn) => turn.text)).toEqual(['commit'])
    expect(run.interactions.every((entry) => entry.toolCalls.length === entry.observations.length)).toBe(true)
    expect(result.files[0]?.damage).toEqual([])
  })
})
