/**
 * One file of the hub into the cache: goes on where an earlier attempt stopped, and takes its place only if size and
 * checksum are the listed ones. Bytes are written by position, so two pulls of one file write the same thing twice.
 */
import { createHash, type Hash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../src/errors.ts'
import type { Rng } from '../../src/rng.ts'
import type { ChatClock } from '../chat/clock.ts'
import { retryDelayMs } from '../chat/retry.ts'
import { noRoomFor } from '../safetensors.ts'
import { hubUnreachable } from './hub-errors.ts'
import type { HubFile, ModelHub } from './port.ts'

export interface DownloadOptions {
  readonly hub: ModelHub
  readonly model: string
  readonly commit: string
  readonly file: HubFile
  /** Final path; `.incomplete` is added until then, as huggingface_hub does. */
  readonly blob: string
  readonly clock: ChatClock
  readonly rng: Rng
  /** A connection that brings nothing for so long is given up and opened again. */
  readonly stallMs: number
  readonly signal: AbortSignal
  /** @param bytes of this file that are there */
  readonly onBytes: (bytes: number) => void
}

/** Attempts that bring not a single byte; every byte gained resets the count. */
const RETRY = { maxRetries: 5, baseDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 60_000 }
const READ_BYTES = 1 << 20

/** @throws endpoint-refused, endpoint-unreachable, download-mismatch, disk-full, and the signal's reason */
export async function downloadBlob(options: DownloadOptions): Promise<void> {
  const { blob, file, signal } = options
  const incomplete = `${blob}.incomplete`
  mkdirSync(dirname(blob), { recursive: true })
  // What an earlier process left may be of a broken disk or tool: its failure is not this server's.
  let trusted = !existsSync(incomplete)
  for (let failures = 0; ; ) {
    signal.throwIfAborted()
    const before = partSize(incomplete)
    const outcome = await attempt(options, incomplete)
    if (outcome.kind === 'whole') {
      takePlace(incomplete, blob, file)
      return
    }
    if (outcome.kind === 'wrong') {
      await rm(incomplete, { force: true })
      if (trusted) throw wrongContent(options, outcome.what)
      trusted = true
      continue
    }
    failures = partSize(incomplete) > before ? 0 : failures + 1
    if (failures > RETRY.maxRetries) throw outcome.error
    const waitMs = retryDelayMs(RETRY, { retry: failures, retryAfterMs: null, rng: options.rng })
    await options.clock.sleep(waitMs, signal)
  }
}

type Outcome =
  | { readonly kind: 'whole' }
  | { readonly kind: 'wrong'; readonly what: string }
  | { readonly kind: 'cut'; readonly error: AppError }

/** One connection. What it brought stays in the file. */
async function attempt(options: DownloadOptions, incomplete: string): Promise<Outcome> {
  const { hub, model, commit, file, signal } = options
  const handle = await open(incomplete, existsSync(incomplete) ? 'r+' : 'w+')
  const watchdog = startWatchdog(options.stallMs, signal)
  try {
    const hash = startHash(file)
    let size = await hashPart(handle, hash, file.sizeBytes)
    if (size > file.sizeBytes) return { kind: 'wrong', what: 'the part from before is longer than the file' }
    if (size < file.sizeBytes) {
      const stream = await hub.open(model, { commit, path: file.path, start: size }, watchdog.signal)
      if (stream.start !== size && stream.start !== 0)
        return { kind: 'wrong', what: `asked for byte ${size}, the server began at ${stream.start}` }
      // A server without ranges sends all of it again: what is there already is passed over.
      let position = stream.start
      for await (const chunk of stream.bytes) {
        watchdog.alive()
        const fresh = chunk.subarray(Math.max(0, size - position))
        position += chunk.length
        if (size + fresh.length > file.sizeBytes) return { kind: 'wrong', what: `more bytes came` }
        hash.update(fresh)
        await writeAt(handle, { path: incomplete, bytes: fresh, position: size })
        size += fresh.length
        options.onBytes(size)
      }
      // A body may end early without an error: the server said fewer bytes than it had listed.
      if (size < file.sizeBytes)
        return { kind: 'cut', error: cutOff(options, size, new Error(`ended after ${size} bytes`)) }
    }
    const found = hash.digest('hex')
    if (found !== file.digest.hex) return { kind: 'wrong', what: `its ${file.digest.kind} is ${found}` }
    await handle.sync()
    return { kind: 'whole' }
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof AppError && thrown.code !== 'endpoint-unreachable') throw thrown
    return { kind: 'cut', error: cutOff(options, partSize(incomplete), thrown) }
  } finally {
    watchdog.stop()
    await handle.close()
  }
}

function startHash(file: HubFile): Hash {
  if (file.digest.kind === 'sha256') return createHash('sha256')
  return createHash('sha1').update(`blob ${file.sizeBytes}\0`)
}

/** @returns bytes that are there; more than `limit` are not read */
async function hashPart(handle: FileHandle, hash: Hash, limit: number): Promise<number> {
  const { size } = await handle.stat()
  if (size > limit) return size
  const chunk = Buffer.allocUnsafe(READ_BYTES)
  let done = 0
  while (done < size) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(READ_BYTES, size - done), done)
    if (bytesRead === 0) break
    hash.update(chunk.subarray(0, bytesRead))
    done += bytesRead
  }
  return done
}

async function writeAt(
  handle: FileHandle,
  piece: { readonly path: string; readonly bytes: Uint8Array; readonly position: number },
): Promise<void> {
  try {
    for (let done = 0; done < piece.bytes.length; ) {
      const { bytesWritten } = await handle.write(piece.bytes, done, piece.bytes.length - done, piece.position + done)
      done += bytesWritten
    }
  } catch (cause) {
    throw noRoomFor(piece.path, cause)
  }
}

function takePlace(incomplete: string, blob: string, file: HubFile): void {
  try {
    renameSync(incomplete, blob)
  } catch (cause) {
    // Another pull of the same file was faster.
    if (statSync(blob, { throwIfNoEntry: false })?.size !== file.sizeBytes) throw cause
  }
}

function partSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Aborts with the caller's signal, or when nothing was alive for `stallMs`. */
function startWatchdog(stallMs: number, outer: AbortSignal) {
  const stalled = new AbortController()
  const arm = (): NodeJS.Timeout =>
    setTimeout(() => stalled.abort(new Error(`no byte for ${Math.round(stallMs / 1000)} s`)), stallMs)
  let timer = arm()
  return {
    signal: AbortSignal.any([stalled.signal, outer]),
    alive() {
      clearTimeout(timer)
      timer = arm()
    },
    /** Also lets go of a connection that was not read to its end. */
    stop() {
      clearTimeout(timer)
      stalled.abort()
    },
  }
}

function cutOff(options: DownloadOptions, bytes: number, cause: unknown): AppError {
  const { hub, file } = options
  const reason = hubUnreachable(hub.endpoint, cause).message.split(': check')[0]
  return new AppError(
    'endpoint-unreachable',
    `${file.path}: ${reason}; ${bytes} of ${file.sizeBytes} bytes are there and kept: pull again to go on`,
    { cause },
  )
}

function wrongContent(options: DownloadOptions, what: string): AppError {
  const { hub, model, file } = options
  return new AppError(
    'download-mismatch',
    `${file.path} of ${model} from ${hub.endpoint} is not the listed file of ${file.sizeBytes} bytes with ${file.digest.kind} ${file.digest.hex}: ${what}; it was thrown away, pull again`,
    { details: { path: file.path, sizeBytes: file.sizeBytes } },
  )
}
