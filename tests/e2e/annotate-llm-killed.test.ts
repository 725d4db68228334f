/**
 * The compiled `keepready annotate --annotator llm`, killed for real in the middle of its calls. `npm test` builds dist first.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeRuns } from '../../data/store/runs.ts'
import { annotatedRun } from '../fixtures/annotated-runs.ts'
import { readAsked, rightAnswer } from '../fixtures/annotation-oracle.ts'
import { after, type ChatServer, says, startChatServer } from '../fixtures/chat-server.ts'
import { type RunningCommand, startCommand } from '../fixtures/run-command.ts'
import { until } from '../fixtures/until.ts'

const RUNS = ['run-a', 'run-b', 'run-c'].map((id) => annotatedRun(id))
/** 5 checkpoints and 2 proposed interactions each. */
const CALLS = 3 * 7

let folder = ''
let server: ChatServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-llm-killed-'))
  await writeRuns(join(folder, 'runs.jsonl'), RUNS)
  server = await startChatServer((request) => after(40, says(JSON.stringify(rightAnswer(readAsked(RUNS, request))))))
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

function annotate(out: string): RunningCommand {
  const where = ['--annotator', 'llm', '--endpoint', server.url, '--model', 'oracle', '--yes', '--concurrency', '2']
  return startCommand(['annotate', join(folder, 'runs.jsonl'), '--out', join(folder, out), ...where])
}

function answersIn(out: string): number {
  const journal = join(folder, `${out}.journal`)
  return existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').length - 2 : 0
}

describe('keepready annotate --annotator llm', { timeout: 120_000 }, () => {
  it('killed with SIGKILL and run again asks for no answer twice and labels as if nothing had happened', async () => {
    const whole = await annotate('whole.jsonl').finished
    expect(whole.code).toBe(0)
    expect(server.requests).toHaveLength(CALLS)

    let lost = 0
    const from = server.requests.length
    for (const point of [3, 12]) {
      const before = { requests: server.requests.length, answers: answersIn('killed.jsonl') }
      const running = annotate('killed.jsonl')
      await until(() => answersIn('killed.jsonl') >= point)
      running.child.kill('SIGKILL')
      await running.finished
      const journalled = answersIn('killed.jsonl') - before.answers
      lost += server.requests.length - before.requests - journalled
    }
    expect(existsSync(join(folder, 'killed.jsonl'))).toBe(false)
    const resumed = await annotate('killed.jsonl').finished
    expect(resumed.code).toBe(0)
    expect(await readFile(join(folder, 'killed.jsonl'), 'utf8')).toBe(
      await readFile(join(folder, 'whole.jsonl'), 'utf8'),
    )

    const keys = server.requests.slice(from).map(({ key }) => key)
    expect(new Set(keys).size).toBe(CALLS)
    // Asked twice: the calls under way when the process died, two at a time, and no other.
    expect(keys.length - CALLS).toBe(lost)
    expect(lost).toBeLessThanOrEqual(2 * 2)
  })

  it('interrupted with Ctrl-C exits 130 with its journal whole, and goes on', async () => {
    const running = annotate('stopped.jsonl')
    await until(() => answersIn('stopped.jsonl') >= 4)
    running.child.kill('SIGINT')
    const stopped = await running.finished
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toContain('[interrupted]')
    expect(existsSync(join(folder, 'stopped.jsonl'))).toBe(false)
    const resumed = await annotate('stopped.jsonl').finished
    expect(resumed.code).toBe(0)
    expect(resumed.stderr).toMatch(/holds \d+ answers of earlier runs; none is asked for again/)
    expect(await readFile(join(folder, 'stopped.jsonl'), 'utf8')).toBe(
      await readFile(join(folder, 'whole.jsonl'), 'utf8'),
    )
  })
})
