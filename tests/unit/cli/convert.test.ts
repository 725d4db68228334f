import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createCommand } from '../../../src/cli/commands/convert.ts'
import { type Outcome, runInProcess } from '../../fixtures/run-in-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-convert-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function run(text: string, ...flags: string[]): Promise<Outcome> {
  const path = join(folder, 'history.json')
  writeFileSync(path, text)
  return runInProcess(createCommand(), [path, ...flags])
}

const CHAT =
  '[{"role":"system","content":"be terse"},{"role":"user","content":"go"},{"role":"assistant","content":"ok","reasoning_content":"hm"},{"role":"user","content":"on"}]'
const TO_ANTHROPIC = ['--from', 'openai-chat', '--to', 'anthropic-messages']
const CONVERTED =
  '{"system":"be terse","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"ok"}]},{"role":"user","content":"on"}]}'

describe('keepready convert', () => {
  it('prints a request body of the other format, and the losses on stderr', async () => {
    const { out, err, code } = await run(CHAT, ...TO_ANTHROPIC)
    expect(out).toBe(`${CONVERTED}\n`)
    expect(err).toContain('not carried over as it was: the reasoning of a model call')
    expect(code).toBe(0)
  })
  it('writes a file, and gives the losses as data with --json', async () => {
    const target = join(folder, 'out.json')
    const { out } = await run(CHAT, ...TO_ANTHROPIC, '--out', target, '--json')
    expect(readFileSync(target, 'utf8')).toBe(CONVERTED)
    expect(JSON.parse(out)).toMatchObject({
      to: 'anthropic-messages',
      messages: 3,
      losses: [expect.stringContaining('reasoning')],
    })
    const printed = await run(CHAT, ...TO_ANTHROPIC, '--json')
    expect(JSON.parse(printed.out).body).toEqual(JSON.parse(CONVERTED))
  })
  it('gives the same bytes for the same format', async () => {
    expect((await run(CHAT, '--from', 'openai-chat', '--to', 'openai-chat')).out).toBe(`${CHAT}\n`)
  })
  it('has exit code 1 when the new history breaks a rule that no repair can mend, 2 for what is no history', async () => {
    const alone = await run('[{"role":"assistant","content":"hello"}]', ...TO_ANTHROPIC)
    expect(alone.code).toBe(1)
    expect(alone.err).toContain('A5 /messages/0')
    expect((await run('[7]', ...TO_ANTHROPIC)).code).toBe(2)
  })
})
