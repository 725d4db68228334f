import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createCommand } from '../../../src/cli/commands/validate.ts'
import { type Outcome, runInProcess } from '../../fixtures/run-in-process.ts'

/** In place of a file's text: give the folder itself as the path. */
const FOLDER = 'folder'
const folder = mkdtempSync(join(tmpdir(), 'keepready-validate-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function run(text: string | null, ...flags: string[]): Promise<Outcome> {
  const path = text === FOLDER ? folder : join(folder, 'history.json')
  if (text === null) rmSync(path, { force: true })
  else if (text !== FOLDER) writeFileSync(path, text)
  return runInProcess(createCommand(), [path, '--format', 'anthropic-messages', ...flags])
}

describe('keepready validate', () => {
  it('says that a valid history is valid, exit code 0', async () => {
    const { out, code } = await run('[{"role":"user","content":"go"}]')
    expect(out).toMatch(/1 messages, anthropic-messages, valid\n$/)
    expect(code).toBe(0)
  })
  it('lists violations with rule, pointer and sentence, exit code 1', async () => {
    const { out, code } = await run('[{"role":"user","content":""},{"role":"assistant","content":"x"}]')
    expect(out).toContain('2 violations, 1 of them blocking')
    expect(out).toMatch(/^A8 \/messages\/0\/content: .*Rule: /m)
    expect(out).toMatch(/^A7 \(advisory\) \/messages\/1: /m)
    expect(code).toBe(1)
  })
  it('prints one JSON document with --json', async () => {
    const { out } = await run('[{"role":"user","content":""}]', '--json')
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      violations: [{ rule: 'A8', pointer: '/messages/0/content' }],
    })
  })
  it('refuses what is no history, and a file that is not there, exit code 2', async () => {
    const malformed = await run('[{"role":"user"}]')
    expect(malformed).toMatchObject({ out: '', code: 2 })
    expect(malformed.err).toContain('[history-malformed]')
    const missing = await run(null)
    expect(missing.err).toContain('[file-not-found]')
    expect(missing.code).toBe(2)
    const unreadable = await run(FOLDER)
    expect(unreadable.err).toContain('[file-unreadable]')
    expect(unreadable.code).toBe(2)
  })
})

describe('keepready validate --fix', () => {
  const BAD =
    '{"model":"m", "messages" : [{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":"on"}], "x":1.0}'
  const FIXED = '{"model":"m", "messages" : [{"role":"user","content":"go"},{"role":"user","content":"on"}], "x":1.0}'

  it('prints the repaired request with its other bytes, what changed on stderr, exit code 0', async () => {
    const { out, err, code } = await run(BAD, '--fix')
    expect(out).toBe(`${FIXED}\n`)
    expect(err).toContain('A1 /messages/1/content/0: tool call "a" was never answered and was dropped')
    expect(err).toContain('1 changes; valid now')
    expect(code).toBe(0)
  })
  it('writes it to a file that its owner alone can read, and closes calls where asked', async () => {
    const target = join(folder, 'repaired.json')
    const { out, code } = await run(BAD, '--fix', '--out', target, '--dangling', 'close')
    expect(out).toContain(`written to ${target}`)
    expect(readFileSync(target, 'utf8')).toContain('"is_error":true')
    expect(statSync(target).mode & 0o777).toBe(0o600)
    expect(code).toBe(0)
  })
  it('gives violations, changes, the list and what remains with --json, exit code 1 when it is still invalid', async () => {
    const { out, code } = await run('[{"role":"assistant","content":"x"}]', '--fix', '--json')
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      changes: [],
      remaining: [{ rule: 'A5' }, { rule: 'A7' }],
      messages: [{ role: 'assistant' }],
    })
    expect(code).toBe(1)
  })
  it('leaves a valid file as it is', async () => {
    const text = ' [ {"role":"user","content":"go"} ] '
    expect((await run(text, '--fix')).out.trimEnd()).toBe(text.trimEnd())
  })
  it('wants --fix for --out', async () => {
    const { err, code } = await run('[]', '--out', join(folder, 'x.json'))
    expect(err).toContain('[option-invalid]')
    expect(code).toBe(2)
  })
})
