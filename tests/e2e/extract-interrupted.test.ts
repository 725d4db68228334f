/**
 * The compiled `keepready extract` on models/tiny, killed for real. `npm test` builds dist first.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { annotateLineage } from '../../data/annotate/lineage.ts'
import { writeLabels } from '../../data/store/labels.ts'
import { readDataset } from '../../data/store/read-dataset.ts'
import { writeRuns } from '../../data/store/runs.ts'
import { packageFile } from '../../models/package-root.ts'
import { createRng } from '../../src/rng.ts'
import { syntheticDataset, syntheticTrajectories } from '../fixtures/synthetic-dataset.ts'

interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

let folder: string
let whole: Readonly<Record<string, string>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-killed-'))
  const runs = syntheticTrajectories(syntheticDataset({ groups: 6, minLength: 4, maxLength: 8, seed: 11 }))
  await writeRuns(join(folder, 'runs.jsonl'), runs)
  await writeLabels(
    join(folder, 'labels.jsonl'),
    runs.map((run) => annotateLineage(run)),
  )
  expect((await finished(start('whole', ['--workers', '1']))).code).toBe(0)
  whole = await filesOf('whole')
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

function args(out: string, more: readonly string[]): readonly string[] {
  const files = [join(folder, 'runs.jsonl'), '--labels', join(folder, 'labels.jsonl'), '--out', join(folder, out)]
  return [packageFile('bin', 'keepready.js'), 'extract', ...files, '--view-budget', '256', '--json', ...more]
}

function start(out: string, more: readonly string[] = []): ChildProcess {
  return spawn(process.execPath, args(out, more), { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function finished(child: ChildProcess): Promise<Finished> {
  const text = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    text.stdout += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    text.stderr += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...text }))
  })
}

async function filesOf(out: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(join(folder, out), { recursive: true })).sort()
  const contents = await Promise.all(names.map((name) => readFile(join(folder, out, name), 'base64')))
  return Object.fromEntries(names.map((name, i) => [name, contents[i] ?? '']))
}

function partsIn(out: string): number {
  const parts = join(folder, out, 'parts')
  return existsSync(parts) ? readdirSync(parts).filter((name) => name.endsWith('.part')).length : 0
}

/** Linux: the processes that the command has started. */
function childrenOf({ pid = 0 }: ChildProcess): readonly number[] {
  const list = `/proc/${pid}/task/${pid}/children`
  if (!existsSync(list)) return []
  return readFileSync(list, 'utf8').split(' ').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}

/** Sends the signal once `when` holds, unless the child ends before. */
async function signalWhen(child: ChildProcess, signal: NodeJS.Signals, when: () => boolean): Promise<Finished> {
  const end = finished(child)
  while (child.exitCode === null && child.signalCode === null && !when()) await sleep(1)
  child.kill(signal)
  return end
}

// Thirteen commands in all: about a second each on an idle machine.
describe('keepready extract', { timeout: 180_000 }, () => {
  it('killed with SIGKILL at several points and run again writes the bytes of an uninterrupted run', async () => {
    const out = 'killed'
    const rng = createRng(20)
    let killed = 0
    const points: readonly (() => boolean)[] = [
      () => existsSync(join(folder, out, 'extraction.json')),
      () => partsIn(out) >= 1 + rng.nextBelow(3),
      () => partsIn(out) >= 4,
      () => existsSync(join(folder, out, 'vectors.arrow.tmp')) || existsSync(join(folder, out, 'vectors.arrow')),
      () => existsSync(join(folder, out, 'pairs.arrow')) || existsSync(join(folder, out, 'pairs.arrow.next.tmp')),
    ]
    for (const point of points)
      if ((await signalWhen(start(out, ['--workers', '2']), 'SIGKILL', point)).signal === 'SIGKILL') killed += 1
    expect(killed).toBeGreaterThanOrEqual(3)
    expect((await finished(start(out, ['--workers', '2']))).code).toBe(0)
    expect(await filesOf(out)).toEqual(whole)
  })

  it('with two workers, one of them killed, fails by name, leaves no process behind, and goes on to the same bytes', async () => {
    const out = 'worker-killed'
    const running = start(out, ['--workers', '2'])
    const end = finished(running)
    let workers: readonly number[] = []
    while (running.exitCode === null && (workers.length < 2 || partsIn(out) < 1)) {
      workers = childrenOf(running)
      await sleep(1)
    }
    expect(workers.length).toBe(2)
    process.kill(workers[0] ?? 0, 'SIGKILL')
    const failed = await end
    expect(failed.code).toBe(5)
    expect(JSON.parse(failed.stdout).error).toMatchObject({ code: 'host-crashed', details: { how: 'signal SIGKILL' } })
    expect(workers.filter(isAlive)).toEqual([])
    const resumed = await finished(start(out, ['--workers', '2']))
    expect(resumed.code).toBe(0)
    expect(JSON.parse(resumed.stdout).reusedTrajectories).toBeGreaterThanOrEqual(1)
    expect(await filesOf(out)).toEqual(whole)
  })

  it('interrupted with Ctrl-C exits 130, says how to go on, and goes on', async () => {
    const out = 'interrupted'
    const stopped = await signalWhen(start(out, ['--workers', '1']), 'SIGINT', () => partsIn(out) >= 2)
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toMatch(
      /run the same command again \(extract and train go on where they stopped\) \[interrupted\]/,
    )
    await expect(readDataset(join(folder, out))).rejects.toThrow(/re-run keepready extract/)
    const resumed = await finished(start(out))
    expect(resumed.code).toBe(0)
    expect(JSON.parse(resumed.stdout).reusedTrajectories).toBeGreaterThanOrEqual(2)
    expect(resumed.stderr).toMatch(/runs are there already and are reused/)
    expect(await filesOf(out)).toEqual(whole)
  })

  it('out of room (ulimit -f) is disk-full, exit 4, and goes on where there is room', async () => {
    const out = 'full'
    // In blocks of 1,024 bytes: every part fits, vectors.arrow does not.
    const blocks = Math.floor(Buffer.from(whole['vectors.arrow'] ?? '', 'base64').length / 1024) - 1
    const quoted = args(out, ['--workers', '1']).map((word) => `'${word}'`)
    const script = `ulimit -f ${blocks}; exec '${process.execPath}' ${quoted.join(' ')}`
    const full = await finished(spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] }))
    expect(full.code).toBe(4)
    expect(JSON.parse(full.stdout).error).toMatchObject({ code: 'disk-full', details: { errno: 'EFBIG' } })
    const resumed = await finished(start(out))
    expect(JSON.parse(resumed.stdout)).toMatchObject({ computedTokens: 0 })
    expect(await filesOf(out)).toEqual(whole)
  })

  it('says what it is reusing when there is nothing to do', async () => {
    const again = await finished(start('whole'))
    expect(JSON.parse(again.stdout)).toMatchObject({ unchanged: true, computedTokens: 0 })
    const other = await finished(start('whole', ['--recipe', 'shared-first']))
    expect(other.code).toBe(2)
    expect(JSON.parse(other.stdout).error.message).toMatch(/recipe\.name is once, now shared-first.*--fresh/)
  })
})
