import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { openZip } from '../../../../data/import/zip-archive.ts'
import { fixturePath, importFixture, importText, only } from '../../../fixtures/import-log.ts'
import { zipFile } from '../../../fixtures/zip-file.ts'
import { itWithShared, sharedPath } from '../../../shared-folder.ts'

const LONG = 'A very long task text. '.repeat(3)
const header = JSON.stringify({ eval: { eval_id: 'ev', task: 'shell' } })
const sample = (id: string, text: string): string =>
  JSON.stringify({
    id,
    epoch: 1,
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: text },
    ],
  })

describe('inspect_ai', () => {
  it('makes every sample of every epoch a run of the sample\u2019s group', async () => {
    const result = await importFixture('inspect-ai.json')
    expect(result.trajectories.map((run) => [run.id, run.group, run.interactions.length, run.truncated])).toEqual([
      ['inspect-ai/ev-1/s1.epoch1', 'inspect-ai:shell/s1', 3, true],
      ['inspect-ai/ev-1/s1.epoch2', 'inspect-ai:shell/s1', 1, true],
    ])
    expect(result.files[0]?.damage.map((entry) => entry.reason)).toEqual([
      'attachment ffffffffffffffffffffffffffffffff is missing: its reference stands for it',
      'sample is no object',
    ])
    expect(result.files[0]?.ignored).toEqual({ 'failed model call': 1 })
  })

  it('resolves attachments anywhere, and reads reasoning, server tools, errors and pictures', async () => {
    const [run] = (await importFixture('inspect-ai.json')).trajectories
    expect(run).toMatchObject({ system: 'Use tools.', task: LONG })
    expect(run?.interactions[0]).toMatchObject({
      reasoning: 'Look first.\nhidden plan',
      text: 'Looking.',
      toolCalls: [
        { id: 'w1', name: 'web_search', arguments: '{"q":"ls"}' },
        { id: 't1', name: 'bash', arguments: JSON.stringify({ cmd: LONG }) },
        { id: 't2', name: 'bash' },
      ],
      observations: [
        { callId: 'w1', content: '3 hits', isError: false },
        { callId: 't2', content: 'Command timed out.', isError: true },
        { callId: 't1', content: 'ok\n[image]', isError: false },
      ],
    })
  })

  it('tells a person from the scaffold, and places the summary of a compaction before the first call that saw it', async () => {
    const [run] = (await importFixture('inspect-ai.json')).trajectories
    expect(run?.turns.map((turn) => [turn.before, turn.kind, turn.text])).toEqual([
      [1, 'context', 'Please continue.'],
      [2, 'user', 'Hurry.'],
      [2, 'summary', '[CONTEXT COMPACTION SUMMARY] all is listed'],
    ])
  })

  it('takes the conversation of a sample that was cut from the pool ranges of its last model call', async () => {
    const [, run] = (await importFixture('inspect-ai.json')).trajectories
    expect(run).toMatchObject({ task: 'x', interactions: [{ text: 'cut short' }] })
  })

  it('reads an archive sample by sample, and reports a torn one', async () => {
    const archive = zipFile(
      { name: 'header.json', text: header },
      { name: 'samples/1_epoch_1.json', text: sample('1', 'one') },
      { name: 'samples/2_epoch_1.json', text: sample('2', 'two').slice(0, 40) },
      { name: 'summaries.json', text: '[]' },
      { name: 'samples/3_epoch_1.json', text: sample('3', 'three') },
    )
    const result = await importText('a.eval', archive)
    expect(result.trajectories.map((run) => [run.id, run.interactions[0]?.text])).toEqual([
      ['inspect-ai/ev/1.epoch1', 'one'],
      ['inspect-ai/ev/3.epoch1', 'three'],
    ])
    expect(result.files[0]?.damage).toEqual([
      { index: 1, reason: 'samples/2_epoch_1.json is no JSON object: it is torn or damaged' },
    ])
  })

  it('refuses an archive that is no evaluation, one without samples, and a hostile one, each by its reason', async () => {
    const errorOf = async (archive: Buffer): Promise<unknown> => {
      const { files } = await importText('a.eval', archive)
      return [files[0]?.error?.code, files[0]?.error?.message]
    }
    expect(await errorOf(zipFile({ name: 'a.txt', text: 'x' }))).toEqual([
      'log-malformed',
      expect.stringMatching(/no header\.json/),
    ])
    expect(await errorOf(zipFile({ name: '_journal/start.json', text: header }))).toEqual([
      'log-malformed',
      expect.stringMatching(/holds no samples/),
    ])
    expect(await errorOf(zipFile({ name: '../header.json', text: header }))).toEqual([
      'archive-refused',
      expect.stringMatching(/relative path/),
    ])
  })

  it('refuses a log whose evaluation never ran a sample, and keeps the whole samples of a torn one', async () => {
    const empty = JSON.stringify({ version: 2, status: 'error', eval: { task: 't' }, plan: {}, samples: [] })
    expect((await importText('a.json', empty)).files[0]?.error?.message).toMatch(/nothing was run/)
    const text = readFileSync(fixturePath('inspect-ai.json'), 'utf8')
    const torn = await importText('b.json', text.slice(0, text.indexOf('"cut short"')))
    expect(torn.trajectories.map((run) => run.id)).toEqual(['inspect-ai/ev-1/s1.epoch1'])
  })

  itWithShared('reads the real logs: samples, epochs, and one whose results have no calls', async () => {
    const result = await importFiles([sharedPath('trajectories/inspect_ai')])
    expect(
      result.files.map((file) => [file.file.split('/').at(-1), file.runs, file.interactions, file.emptyRuns.length]),
    ).toEqual([
      ['2025-05-12T20-27-36-04-00_browser.json', 1, 5, 0],
      ['2025-05-12T20-28-26-04-00_security-guide.json', 3, 3, 0],
      ['log_formats.json', 1, 1, 0],
      ['log_images_tc.json', 1, 1, 0],
      ['log_message_deduplication.eval', 1, 6, 0],
      ['log_streaming.eval', 4, 4, 0],
      ['log_tool_call_error.json', 0, 0, 1],
    ])
    // Upstream's test log holds tool messages alone.
    expect(result.files.flatMap((file) => file.damage).map((entry) => entry.reason)).toEqual(
      Array.from({ length: 11 }, (_, index) => `message ${index}: orphan result of call bash_${index + 1}`),
    )
    const streamed = result.trajectories.filter((run) => run.source.file.endsWith('log_streaming.eval'))
    expect(new Set(streamed.map((run) => run.group)).size).toBe(2)
  })

  itWithShared('gives the same conversation from the messages and from the message pool', async () => {
    const path = sharedPath('trajectories/inspect_ai/log_message_deduplication.eval')
    using archive = await openZip(path)
    const pooled = { ...JSON.parse(await archive.readText('samples/0_epoch_1.json')), messages: [] }
    const log = { ...JSON.parse(await archive.readText('header.json')), samples: [pooled] }
    const run = only(await importText('a.json', JSON.stringify(log)))
    expect(run.interactions).toHaveLength(6)
    expect(run.interactions.map(({ source, ...entry }) => entry)).toEqual(
      only(await importFiles([path])).interactions.map(({ source, ...entry }) => entry),
    )
  })
})
