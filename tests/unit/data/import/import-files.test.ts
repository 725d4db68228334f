import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles, startImport } from '../../../../data/import/import-files.ts'
import { fakeSecret } from '../../../../src/redaction/rule.ts'
import { fixturePath, importFixture, importText, jsonLines, withFolder } from '../../../fixtures/import-log.ts'
import { zipFile } from '../../../fixtures/zip-file.ts'

const fixture = (name: string): string => readFileSync(fixturePath(name), 'utf8')
const session = (id: string, answer: string): string =>
  jsonLines(
    { type: 'user', uuid: 'u', parentUuid: null, sessionId: id, message: { role: 'user', content: 'go' } },
    {
      type: 'assistant',
      uuid: 'a',
      parentUuid: 'u',
      sessionId: id,
      message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: answer }] },
    },
  )

describe('format detection', () => {
  it.each([
    ['tau-bench.json', 'tau-bench'],
    ['openai-chat.json', 'openai-chat'],
    ['openai-chat-messages.jsonl', 'openai-chat'],
    ['anthropic-messages.json', 'anthropic-messages'],
    ['pi-v1.jsonl', 'pi'],
    ['pi-v3.jsonl', 'pi'],
    ['who-and-when.json', 'who-and-when'],
    ['swe-agent.traj', 'swe-agent'],
    ['swe-agent-history-only.traj', 'swe-agent'],
    ['claude-code-v1.jsonl', 'claude-code'],
    ['claude-code-v2.jsonl', 'claude-code'],
  ])('%s is %s, and the report says by what evidence', async (name, format) => {
    const [file] = (await importFixture(name)).files
    expect(file?.format).toBe(format)
    expect(file?.evidence).toMatch(/\w+ \w+/)
  })

  it('an ambiguous file is format-ambiguous with its candidates, and --format decides', async () => {
    const error = (await importFixture('ambiguous.json')).files[0]?.error
    expect(error?.code).toBe('format-ambiguous')
    expect(error?.details.candidates).toEqual(['openai-chat', 'anthropic-messages'])
    const forced = await importFixture('ambiguous.json', 'anthropic-messages')
    expect(forced.files[0]).toMatchObject({ format: 'anthropic-messages', evidence: 'chosen with --format', runs: 1 })
  })

  it('a file of no format is format-unknown and lists the supported ones', async () => {
    const error = (await importText('x.json', '{"hello":"world"}')).files[0]?.error
    expect(error?.code).toBe('format-unknown')
    expect(error?.message).toContain('claude-code')
  })

  it('does not take the log of an agent whose user messages are observations for a chat', async () => {
    const log = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'fix it' },
      { role: 'assistant', content: 'ls' },
      { role: 'user', content: '<returncode>0</returncode>\n<output>a</output>' },
    ]
    expect((await importText('x.json', JSON.stringify(log))).files[0]?.format).toBe('mini-swe-agent')
  })

  it('says of a lone answer of an API that it is one', async () => {
    const answer = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hi' }] }
    const error = (await importText('x.json', JSON.stringify(answer))).files[0]?.error
    expect(error?.code).toBe('format-unknown')
    expect(error?.message).toContain('is one answer of a provider')
  })

  it('an unknown format name is option-invalid', async () => {
    await expect(importFixture('pi-v1.jsonl', 'gpt')).rejects.toMatchObject({ code: 'option-invalid' })
  })

  it('a file forced into the wrong format is log-malformed', async () => {
    for (const format of ['claude-code', 'pi', 'swe-agent', 'who-and-when', 'openai-chat'])
      expect((await importText('x.json', '{"hello":"world"}', format)).files[0]?.error?.code).toBe('log-malformed')
  })

  it('reads a one-line session, and a list with one message per line', async () => {
    const [line = ''] = session('one', 'x').split('\n').slice(1)
    expect((await importText('s.jsonl', line)).files[0]).toMatchObject({ format: 'claude-code', interactions: 1 })
    const list = `[\n${fixture('openai-chat-messages.jsonl').trim().split('\n').join(',\n')}\n]`
    expect((await importText('c.json', list)).files[0]).toMatchObject({ format: 'openai-chat', interactions: 4 })
  })
})

describe('a batch', () => {
  it('masks secrets with redact, counts them by rule, and still links a sub-agent by its prompt', async () => {
    const key = fakeSecret('ghp_', 36)
    const log = readFileSync(fixturePath('claude-code-v2.jsonl'), 'utf8').replaceAll(
      'Count the lines',
      `Use ${key} to count`,
    )
    await withFolder({ 'a.jsonl': log }, async (folder) => {
      const plain = await importFiles([folder])
      const { trajectories, files } = await importFiles([folder], { redact: true })
      const counts = files[0]?.redacted['github-token'] ?? 0
      expect(JSON.stringify(plain.trajectories).split(key)).toHaveLength(counts + 1)
      expect(counts).toBeGreaterThanOrEqual(2)
      expect(JSON.stringify(trajectories)).not.toContain(key)
      expect(trajectories[1]?.parentCall).toBe('t2')
      expect(plain.files[0]?.redacted).toEqual({})
    })
  })

  it('takes a text file in a folder only when an importer recognises it, and a named one always', async () => {
    const files = { 'README.md': '# about', 'run.log': session('weak', 'x'), 'd.txt': '[1] see', 'e.eval': 'PK' }
    await withFolder(files, async (folder) => {
      const found = await importFiles([folder])
      expect(found.trajectories.map((run) => run.id)).toEqual(['claude-code/weak'])
      expect(found.notLogs.map((name) => name.split('/').at(-1))).toEqual(['README.md', 'd.txt'])
      expect(found.files.map((file) => file.error?.code ?? null)).toEqual(['format-unknown', null])
      const named = await importFiles([`${folder}/README.md`])
      expect(named.files.map((file) => file.error?.code)).toEqual(['format-unknown'])
    })
  })

  it('links a sub-agent file that stands before its session in the folder', async () => {
    const task = { type: 'tool_use', id: 't', name: 'Agent', input: { prompt: 'Count.' } }
    const parent =
      session('p', 'x') +
      jsonLines({
        type: 'assistant',
        uuid: 'b',
        parentUuid: 'a',
        sessionId: 'p',
        message: { id: 'n', role: 'assistant', content: [task] },
      })
    const child = [
      { type: 'user', uuid: 'c', parentUuid: null, message: { role: 'user', content: 'Count.' } },
      { type: 'assistant', uuid: 'd', parentUuid: 'c', message: { id: 'o', role: 'assistant', content: '12' } },
    ].map((line) => ({ ...line, sessionId: 'p', isSidechain: true, agentId: '7' }))
    await withFolder({ 'z.jsonl': parent }, async (folder) => {
      mkdirSync(`${folder}/p/subagents`, { recursive: true })
      writeFileSync(`${folder}/p/subagents/agent-7.jsonl`, jsonLines(...child))
      const { trajectories } = await importFiles([folder])
      expect(trajectories.map((run) => [run.id, run.parentCall])).toEqual([
        ['claude-code/p', undefined],
        ['claude-code/p/agent-7', 't'],
      ])
    })
  })

  it('hands each run on before the next one is read', async () => {
    await withFolder({ 'a.jsonl': session('a', 'x'), 'b.jsonl': session('b', 'x') }, async (folder) => {
      const { runs, report } = startImport([folder])
      const seen: number[] = []
      for await (const _ of runs) seen.push(report.files.length)
      expect(seen).toEqual([0, 1])
      expect(report.files).toHaveLength(2)
    })
  })

  it('goes on after an archive that is refused', async () => {
    const hostile = zipFile({ name: 'header.json', text: '{}' }, { name: '../../evil.json', text: '{}' })
    await withFolder({ 'a.eval': hostile, 'b.jsonl': session('b', 'x') }, async (folder) => {
      const { files, trajectories } = await importFiles([folder])
      expect(files.map((file) => file.error?.code ?? null)).toEqual(['archive-refused', null])
      expect(trajectories).toHaveLength(1)
    })
  })

  it('goes on after a bad file and says what was wrong with it', async () => {
    await withFolder(
      {
        'a-torn.json': '[{"role":"user","content":"hel',
        'b-empty.jsonl': '',
        'c-binary.json': Buffer.from([0, 1, 2, 255]),
        'd-good.jsonl': session('s', 'x'),
        LICENSE: 'text',
        'notes.md': '# notes',
      },
      async (folder) => {
        const result = await importFiles([folder])
        expect(result.files.map((file) => file.error?.code ?? null)).toEqual([
          'log-malformed',
          'log-malformed',
          'log-malformed',
          null,
        ])
        expect(result.trajectories.map((run) => run.id)).toEqual(['claude-code/s'])
        expect(result.notLogs.map((name) => name.split('/').at(-1))).toEqual(['LICENSE', 'notes.md'])
      },
    )
  })

  it('reports a path that does not exist as file-not-found and imports the others', async () => {
    const result = await importFiles(['/no/such/file.jsonl', fixturePath('pi-v1.jsonl')])
    expect(result.files.map((file) => file.error?.code ?? null)).toEqual(['file-not-found', null])
  })

  it('reports what is no regular file as file-unreadable', async () => {
    const result = await importFiles(['/dev/null', fixturePath('pi-v1.jsonl')])
    expect(result.files.map((file) => file.error?.code ?? null)).toEqual(['file-unreadable', null])
  })

  it('walks folders by name, depth first, and names files from the folder down', async () => {
    await withFolder({ 'b.jsonl': session('b', 'x') }, async (folder) => {
      mkdirSync(`${folder}/a`)
      writeFileSync(`${folder}/a/z.jsonl`, session('z', 'x'))
      symlinkSync(folder, `${folder}/a/loop`)
      const { trajectories } = await importFiles([folder])
      const root = folder.split('/').at(-1)
      expect(trajectories.map((run) => run.source.file)).toEqual([`${root}/a/z.jsonl`, `${root}/b.jsonl`])
    })
  })

  it('imports the same bytes once, and gives a second file of one session an id of its own', async () => {
    await withFolder(
      { '1.jsonl': session('s', 'x'), '2.jsonl': session('s', 'x'), '3.jsonl': session('s', 'y') },
      async (folder) => {
        const { trajectories, files } = await importFiles([folder, `${folder}/1.jsonl`])
        expect(trajectories.map((run) => [run.id, run.group])).toEqual([
          ['claude-code/s', 'claude-code:s'],
          ['claude-code/s~2', 'claude-code:s'],
        ])
        expect(files.map((file) => file.copyOf?.split('/').at(-1) ?? null)).toEqual([null, '1.jsonl', null])
      },
    )
  })

  it('gives the same rows twice', async () => {
    const once = await importFiles([fixturePath('.')])
    const twice = await importFiles([fixturePath('.')])
    expect(JSON.stringify(twice.trajectories)).toBe(JSON.stringify(once.trajectories))
    expect(once.trajectories.length).toBeGreaterThan(10)
  })

  it('reports a session without a model call as an empty run', async () => {
    const line = { type: 'user', uuid: 'u', parentUuid: null, sessionId: 's', message: { role: 'user', content: 'go' } }
    const result = await importText('s.jsonl', jsonLines(line))
    expect(result.trajectories).toEqual([])
    expect(result.files[0]?.emptyRuns).toEqual(['claude-code/s'])
  })
})
