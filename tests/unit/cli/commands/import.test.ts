import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readRuns } from '../../../../data/store/runs.ts'
import { createCommand } from '../../../../src/cli/commands/import.ts'
import { fakeSecret } from '../../../../src/redaction/rule.ts'
import { fixturePath, withFolder } from '../../../fixtures/import-log.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'

const run = (...args: readonly string[]): Promise<Outcome> => runInProcess(createCommand(), args)

describe('keepready import', () => {
  it('writes the runs and prints format, evidence and counts for each file', async () => {
    await withFolder({}, async (folder) => {
      const { out, code } = await run(fixturePath('who-and-when.json'), '--out', `${folder}/runs.jsonl`)
      expect(out).toContain('who-and-when')
      expect(out).toContain('mistake_agent')
      expect(code).toBe(0)
      expect(await readRuns(`${folder}/runs.jsonl`)).toHaveLength(1)
    })
  })

  it('exits 1 and lists the skipped record with its place when one is damaged', async () => {
    await withFolder({}, async (folder) => {
      const { out, code } = await run(fixturePath('tau-bench.json'), '--out', `${folder}/runs.jsonl`)
      expect(out).toContain('tau-bench.json element 3: element is no run')
      expect(out).toContain('task8.trial0 has no interaction')
      expect(code).toBe(1)
    })
  })

  it('exits 1 when one file of a batch is bad, and imports the others', async () => {
    await withFolder({ 'bad.json': '{"hello":1}' }, async (folder) => {
      const { out, code } = await run(folder, fixturePath('pi-v1.jsonl'), '--out', `${folder}/runs.jsonl`, '--json')
      const report: unknown = JSON.parse(out)
      expect(report).toMatchObject({
        runs: 1,
        files: [{ error: { code: 'format-unknown' } }, { format: 'pi', interactions: 2, error: null }],
      })
      expect(code).toBe(1)
    })
  })

  it('fails with the error of the file when it is the only one, and writes nothing', async () => {
    await withFolder({}, async (folder) => {
      const { err, code } = await run(fixturePath('ambiguous.json'), '--out', `${folder}/runs.jsonl`)
      expect(err).toContain('[format-ambiguous]')
      expect(code).toBe(2)
      expect(existsSync(`${folder}/runs.jsonl`)).toBe(false)
    })
  })

  it('fails with file-not-found when a folder holds no log', async () => {
    await withFolder({ 'README.md': '# none' }, async (folder) => {
      const { err, code } = await run(folder, '--out', `${folder}/runs.jsonl`)
      expect(err).toContain('[file-not-found]')
      expect(code).toBe(2)
    })
  })

  it('masks secrets with --redact and prints how many each rule found', async () => {
    const key = fakeSecret('ghp_', 36)
    const messages = [
      { role: 'system', content: 's' },
      { role: 'user', content: `Use ${key}.` },
      { role: 'assistant', content: `Used ${key}.` },
    ]
    await withFolder({ 'a.json': JSON.stringify(messages) }, async (folder) => {
      const { out, code } = await run(folder, '--redact', '--out', `${folder}/runs.jsonl`)
      expect(out).toContain('masked secrets: github-token 2')
      expect(code).toBe(0)
      expect(readFileSync(`${folder}/runs.jsonl`, 'utf8')).not.toContain(key)
      const plain = await run(`${folder}/a.json`, '--out', `${folder}/plain.jsonl`)
      expect(plain.out).not.toContain('masked secrets')
    })
  })

  it('writes abandoned branches with --all-branches', async () => {
    await withFolder({}, async (folder) => {
      await run(fixturePath('pi-v3.jsonl'), '--all-branches', '--out', `${folder}/runs.jsonl`)
      const ids = (await readRuns(`${folder}/runs.jsonl`)).map((one) => one.id.replace(/^.*-/, ''))
      expect(ids).toEqual(['555555555555', '555555555555~branch2'])
    })
  })

  it('leaves the old runs file as it was when nothing can be imported', async () => {
    await withFolder({ 'bad.json': '{"hello":1}' }, async (folder) => {
      writeFileSync(`${folder}/kept`, 'before')
      const { code } = await run(`${folder}/bad.json`, '--out', `${folder}/kept`)
      expect(code).toBe(2)
      expect(readFileSync(`${folder}/kept`, 'utf8')).toBe('before')
    })
  })

  it('takes the format that it is told', async () => {
    await withFolder({}, async (folder) => {
      const { code } = await run(fixturePath('ambiguous.json'), '--format', 'openai-chat', '--out', `${folder}/r.jsonl`)
      expect(code).toBe(0)
      expect(await readRuns(`${folder}/r.jsonl`)).toMatchObject([{ format: 'openai-chat' }])
    })
  })
})
