import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttpHub } from '../../../../models/hub/http-hub.ts'
import { type LockHolder, type PullLockOptions, pullLockPath, withPullLock } from '../../../../models/hub/pull-lock.ts'
import { pullModel } from '../../../../models/hub/pull-model.ts'
import { createRng } from '../../../../src/rng.ts'
import { startHubServer } from '../../../fixtures/hub-server.ts'

const MODEL = 'someone/small-model'
const NOW_MS = Date.UTC(2026, 0, 1)

let hubCache: string
let lock: string
beforeEach(() => {
  hubCache = mkdtempSync(join(tmpdir(), 'keepready-lock-'))
  lock = pullLockPath(hubCache, MODEL)
})
afterEach(() => rmSync(hubCache, { recursive: true }))

/** Polls in no time; `waits` are the holders that were named. */
function options(change: Partial<PullLockOptions> = {}): PullLockOptions & { readonly waits: (LockHolder | null)[] } {
  const waits: (LockHolder | null)[] = []
  return {
    hubCache,
    model: MODEL,
    clock: { nowMs: () => NOW_MS, sleep: (_, signal) => wait(1, undefined, signal === undefined ? {} : { signal }) },
    signal: new AbortController().signal,
    onWait: (holder) => waits.push(holder),
    waits,
    ...change,
  }
}

/** A lock as another process left it. */
function leave(holder: object | string, ageMs: number): void {
  mkdirSync(dirname(lock), { recursive: true })
  writeFileSync(lock, typeof holder === 'string' ? holder : JSON.stringify(holder))
  utimesSync(lock, (NOW_MS - ageMs) / 1000, (NOW_MS - ageMs) / 1000)
}

const since = '2026-01-01T00:00:00.000Z'
const elsewhere = { pid: 1, host: 'another-machine', since }

/** A process that was there and is not any more. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid

describe('the lock of a pull', () => {
  it('lets one at a time work, and tells the others once whom they wait for', async () => {
    const events: string[] = []
    const work = (name: string) => async (): Promise<void> => {
      events.push(`${name} starts`)
      await wait(20)
      events.push(`${name} ends`)
    }
    const all = ['a', 'b', 'c'].map((name) => ({ name, with: options() }))
    await Promise.all(all.map((one) => withPullLock(one.with, work(one.name))))
    const order = events.filter((_, i) => i % 2 === 0).map((event) => event[0])
    expect(events).toEqual(order.flatMap((name) => [`${name} starts`, `${name} ends`]))
    const waits = all.map((one) => one.with.waits)
    expect(waits.map((told) => told.length).sort()).toEqual([0, 1, 1])
    expect(waits.flat()).toEqual([1, 1].map(() => ({ pid: process.pid, host: hostname(), since })))
    expect(existsSync(lock)).toBe(false)
  })

  it('is given back when the pull fails', async () => {
    const failed = withPullLock(options(), () => Promise.reject(new Error('no network')))
    await expect(failed).rejects.toThrow('no network')
    expect(existsSync(lock)).toBe(false)
  })

  it('is taken over at once from a process of this machine that is gone', async () => {
    leave({ pid: deadPid(), host: hostname(), since }, 0)
    const taker = options()
    const held = await withPullLock(taker, async () => JSON.parse(readFileSync(lock, 'utf8')) as LockHolder)
    expect(held.pid).toBe(process.pid)
    expect(taker.waits).toEqual([])
  })

  it('is taken over by one only, of several that find it dead', async () => {
    leave({ pid: deadPid(), host: hostname(), since }, 0)
    let working = 0
    let most = 0
    const work = async (): Promise<void> => {
      most = Math.max(most, ++working)
      await wait(5)
      working -= 1
    }
    await Promise.all([1, 2, 3, 4].map(() => withPullLock(options(), work)))
    expect(most).toBe(1)
  })

  it.each([
    ['of another machine', elsewhere],
    ['that says nothing', ''],
    ['whose number another process has got', { pid: process.pid, host: hostname(), since }],
  ])('%s is waited for while it is touched, and taken over when it no longer is', async (_, holder) => {
    leave(holder, 30_000)
    const stop = new AbortController()
    const waiting = options({ signal: stop.signal })
    const waited = withPullLock(waiting, async () => 'taken')
    await wait(10)
    stop.abort(new Error('Ctrl-C'))
    await expect(waited).rejects.toThrow()
    expect(waiting.waits).toEqual([holder === '' ? null : holder])
    leave(holder, 61_000)
    expect(await withPullLock(options(), async () => 'taken')).toBe('taken')
  })

  it('that another one took over meanwhile is left to it', async () => {
    await withPullLock(options(), async () => leave(elsewhere, 0))
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toEqual(elsewhere)
  })
})

describe('two pulls of one model at once', () => {
  it('download every byte once', async () => {
    const bytes = Buffer.from('weights '.repeat(50_000))
    const files = {
      'config.json': { bytes: Buffer.from('{}'), large: false },
      'model.safetensors': { bytes, large: true },
    }
    const server = await startHubServer({ [MODEL]: { files } })
    try {
      const { clock, signal } = options()
      const holders: (LockHolder | null)[] = []
      const pull = () =>
        pullModel({
          hub: createHttpHub({ endpoint: server.url, token: null, userAgent: 'test' }),
          hubCache,
          model: MODEL,
          revision: 'main',
          include: [],
          maxBytes: 1e9,
          clock,
          rng: createRng(1),
          stallMs: 2_000,
          signal,
          onWait: (holder) => holders.push(holder),
          onPlan: () => undefined,
          onBytes: () => undefined,
        })
      const pulled = await Promise.all([pull(), pull()])
      expect(server.downloads.map(({ path }) => path).sort()).toEqual(['config.json', 'model.safetensors'])
      expect(pulled.map(({ downloadedBytes }) => downloadedBytes).sort()).toEqual([0, bytes.length + 2])
      expect(holders).toMatchObject([{ pid: process.pid }])
    } finally {
      await server.close()
    }
  })
})
