/**
 * One pull of a model at a time: a lock file in the cache, which names its holder and is touched while it is held. A
 * second pull waits. What a process that is gone left is taken over: at once where it ran on this machine, else when it
 * was not touched for a while. Nothing is damaged where the lock fails (download-blob.ts writes by position); it spares
 * the second download.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { ChatClock } from '../chat/clock.ts'
import { repositoryFolder } from './hub-cache.ts'

export interface LockHolder {
  readonly pid: number
  readonly host: string
  /** ISO 8601 */
  readonly since: string
}

export interface PullLockOptions {
  readonly hubCache: string
  readonly model: string
  readonly clock: ChatClock
  readonly signal: AbortSignal
  /** Once, when another pull holds the lock; null where the lock does not say who. */
  readonly onWait: (holder: LockHolder | null) => void
}

const POLL_MS = 500
const TOUCH_MS = 10_000
/** Six touches: a machine under load may miss some. */
const STALE_MS = 60_000

/** `.locks` is where huggingface_hub keeps its own, one for each file. */
export function pullLockPath(hubCache: string, model: string): string {
  return join(hubCache, '.locks', basename(repositoryFolder(hubCache, model)), 'keepready-pull.lock')
}

/**
 * @returns what `pull` returns, run while the lock is held
 * @throws what `pull` throws, and the signal's reason while waiting
 */
export async function withPullLock<T>(options: PullLockOptions, pull: () => Promise<T>): Promise<T> {
  const path = pullLockPath(options.hubCache, options.model)
  mkdirSync(dirname(path), { recursive: true })
  const holder: LockHolder = {
    pid: process.pid,
    host: hostname(),
    since: new Date(options.clock.nowMs()).toISOString(),
  }
  const content = JSON.stringify({ ...holder, id: randomUUID() })
  await acquire(path, content, options)
  const touching = setInterval(() => touch(path, options.clock.nowMs()), TOUCH_MS)
  touching.unref()
  try {
    return await pull()
  } finally {
    clearInterval(touching)
    if (read(path) === content) rmSync(path, { force: true })
  }
}

async function acquire(path: string, content: string, options: PullLockOptions): Promise<void> {
  const { clock, signal, onWait } = options
  for (let told = false; ; ) {
    signal.throwIfAborted()
    if (create(path, content)) return
    const found = read(path)
    if (found === null) continue
    if (isGone(path, found, clock.nowMs()) && takeAway(path, found, clock.nowMs())) continue
    if (!told) onWait(holderOf(found))
    told = true
    await clock.sleep(POLL_MS, signal)
  }
}

/** The file system lets one of several make it. */
function create(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' })
    return true
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false
    throw thrown
  }
}

function isGone(path: string, content: string, nowMs: number): boolean {
  const holder = holderOf(content)
  if (holder?.host === hostname() && !isAlive(holder.pid)) return true
  const touchedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return touchedMs !== undefined && nowMs - touchedMs > STALE_MS
}

/**
 * Only one of several that found the same lock dead removes it: another one would remove the next holder's.
 * @returns whether it was this one
 */
function takeAway(path: string, dead: string, nowMs: number): boolean {
  const taking = `${path}.taking`
  if (!create(taking, dead)) {
    // Its maker died within the lines below.
    if (nowMs - (statSync(taking, { throwIfNoEntry: false })?.mtimeMs ?? nowMs) > STALE_MS)
      rmSync(taking, { force: true })
    return false
  }
  try {
    if (read(path) === dead) rmSync(path, { force: true })
    return true
  } finally {
    rmSync(taking, { force: true })
  }
}

/** Null where there is none (any more). */
function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return null
    throw thrown
  }
}

/** Null where it does not say: half written, or not by us. Its age decides then. */
function holderOf(content: string): LockHolder | null {
  try {
    const { pid, host, since } = (JSON.parse(content) ?? {}) as Partial<LockHolder>
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof since !== 'string') return null
    return { pid, host, since }
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null
    throw thrown
  }
}

/** Signal 0 asks and does nothing; EPERM is a process of somebody else. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return codeOf(thrown) !== 'ESRCH'
  }
}

function touch(path: string, nowMs: number): void {
  try {
    utimesSync(path, nowMs / 1000, nowMs / 1000)
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown
  }
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
