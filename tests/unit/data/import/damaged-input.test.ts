/** Each damaged form of formats.md rule 6 and of issue 4: what can be recovered is, with a report, and nothing throws. */
import { describe, expect, it } from 'vitest'
import type { ImportResult } from '../../../../data/import/import-files.ts'
import { assistantLine, textBlock, userLine } from '../../../fixtures/claude-code-lines.ts'
import { importText, jsonLines, only } from '../../../fixtures/import-log.ts'

const BODY = {
  messages: [
    { role: 'system', content: 'You help.' },
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'one' },
  ],
}
const line = (text: string): string =>
  JSON.stringify({ messages: [...BODY.messages.slice(0, 2), { role: 'assistant', content: text }] })

const answers = (result: ImportResult): unknown =>
  result.trajectories.map((run) => run.interactions.map((entry) => entry.text).join())
const reasons = (result: ImportResult): readonly string[] =>
  (result.files[0]?.damage ?? []).map((entry) => `${entry.line ?? entry.index ?? '-'}: ${entry.reason}`)

describe('damaged JSONL', () => {
  it('BOM and CR are read over', async () => {
    const result = await importText('x.jsonl', `\ufeff${line('one')}\r\n${line('two')}\r\n`)
    expect(answers(result)).toEqual(['one', 'two'])
    expect(reasons(result)).toEqual([])
  })

  it('NUL lines are dropped and reported', async () => {
    const result = await importText('x.jsonl', `${line('one')}\n${'\0'.repeat(4096)}\n\0\0${line('two')}\n`)
    expect(answers(result)).toEqual(['one', 'two'])
    expect(reasons(result)).toEqual(['2: 4096 NUL bytes dropped', '3: 2 NUL bytes dropped'])
  })

  it('NULs before the first record do not hide the format', async () => {
    const result = await importText('x.jsonl', `${'\0'.repeat(100_000)}\n${line('one')}\n${line('two')}\n`)
    expect(answers(result)).toEqual(['one', 'two'])
  })

  it('a torn tail is reported, a whole last line without a line break is read', async () => {
    const torn = await importText('x.jsonl', `${line('one')}\n${line('two').slice(0, 60)}`)
    expect(answers(torn)).toEqual(['one'])
    expect(reasons(torn)).toEqual([expect.stringContaining('2: line is no whole JSON record')])
    expect(answers(await importText('x.jsonl', `${line('one')}\n${line('two')}`))).toEqual(['one', 'two'])
  })

  it('glued records are both read, also behind a torn one', async () => {
    const user = jsonLines(userLine({ uuid: 'u', parent: null }, 'go')).trim()
    const one = jsonLines(assistantLine({ uuid: 'a', parent: 'u' }, 'm1', textBlock('one'))).trim()
    const two = jsonLines(assistantLine({ uuid: 'b', parent: 'a' }, 'm2', textBlock('two'))).trim()
    const result = await importText('s.jsonl', `${user}\n${one.slice(0, 70)}${one}${two}\n`)
    expect(answers(result)).toEqual(['one,two'])
    expect(reasons(result)).toEqual([expect.stringMatching(/^2: torn record of 70 characters/)])
  })

  it('bytes that are no UTF-8 are replaced and reported', async () => {
    const [before = '', after = ''] = line('a|b').split('|')
    const bytes = Buffer.concat([
      Buffer.from(before),
      Buffer.from([0xff, 0xc3]),
      Buffer.from(`${after}\n${line('two')}`),
    ])
    const result = await importText('x.jsonl', bytes)
    expect(answers(result)).toEqual(['a\ufffd\ufffdb', 'two'])
    expect(reasons(result)).toEqual([expect.stringContaining('1: bytes that are no UTF-8')])
  })

  it('lone surrogates are repaired', async () => {
    const result = await importText('x.jsonl', line('cut |').replace('|', '\\ud83d'))
    expect(answers(result)).toEqual(['cut \ufffd'])
  })

  it('a value nested 100,000 levels deep is left out and reported, its record is kept', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
    const call = { type: 'tool_use', id: 't', name: 'Read', input: 'DEEP' }
    const result = await importText(
      's.jsonl',
      jsonLines(
        userLine({ uuid: 'u', parent: null }, 'go'),
        assistantLine({ uuid: 'a', parent: 'u' }, 'm1', textBlock('one'), call),
      ).replace('"DEEP"', deep),
    )
    expect(answers(result)).toEqual(['one'])
    expect(only(result).interactions[0]?.toolCalls[0]?.arguments).toContain('[nested too deep]')
    expect(reasons(result)).toEqual(['2: 1 values nested deeper than 200 levels are left out'])
  })

  it('a line without a line break that is all brackets ends as a named error', async () => {
    for (const text of ['['.repeat(1_000_000), '{"a":'.repeat(300_000), `${'['.repeat(300_000)}${']'.repeat(300_000)}`])
      expect((await importText('x.jsonl', text)).files[0]?.error?.code).toMatch(/^(?:log-malformed|format-unknown)$/)
  })
})

describe('damaged JSON', () => {
  const list = (count: number): object[] =>
    Array.from({ length: count }, (_, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content: `text ${n}` }))
  const withSystem = (count: number): object[] => [{ role: 'system', content: 's' }, ...list(count)]

  it.each([
    ['an OpenAI chat list', 'openai-chat', JSON.stringify(withSystem(6)), 2],
    ['a body with messages', 'openai-chat', JSON.stringify({ model: 'm', messages: withSystem(6) }), 2],
    ['an Anthropic body', 'anthropic-messages', JSON.stringify({ system: 's', messages: list(6) }), 2],
    ['a pretty-printed list', 'openai-chat', JSON.stringify(withSystem(6), null, 2), 2],
  ])('%s that is torn gives its complete messages and a report', async (_, format, text, interactions) => {
    const result = await importText('x.json', text.slice(0, text.indexOf('text 5')))
    expect(result.files[0]).toMatchObject({ format, interactions, error: null })
    expect(reasons(result)).toEqual([expect.stringContaining('the file is torn')])
  })

  it('a torn tau-bench list gives its complete runs', async () => {
    const run = (task: number): object => ({ task_id: task, trial: 0, traj: withSystem(4) })
    const text = JSON.stringify([run(1), run(2), run(3)])
    const result = await importText('x.json', text.slice(0, text.lastIndexOf('text 3')))
    expect(result.trajectories.map((one) => one.group)).toEqual(['tau-bench:task-1', 'tau-bench:task-2'])
    expect(reasons(result)).toEqual([expect.stringMatching(/^2: the file is torn.*2 complete elements/)])
  })

  it('bytes that are no UTF-8 are replaced and reported', async () => {
    const bytes = Buffer.from(JSON.stringify(withSystem(4)))
    bytes[bytes.indexOf('text 1')] = 0xff
    const result = await importText('x.json', bytes)
    expect(answers(result)).toEqual(['\ufffdext 1,text 3'])
    expect(reasons(result)).toEqual([expect.stringContaining('no UTF-8')])
  })

  it('deep nesting is cut out and reported', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const text = JSON.stringify([...withSystem(2), { role: 'user', content: 'x', extra: 'DEEP' }]).replace(
      '"DEEP"',
      deep,
    )
    const result = await importText('x.json', text)
    expect(answers(result)).toEqual(['text 1'])
    expect(reasons(result)).toEqual(['-: 1 values nested deeper than 200 levels are left out'])
  })

  it('a file that begins like JSON and holds no complete element is log-malformed', async () => {
    for (const text of ['[{"role":"user","content":"hel', '{"messages":[{"role"', '[\n  {\n    "role": "user"'])
      expect((await importText('x.json', text)).files[0]?.error?.code).toBe('log-malformed')
  })
})
