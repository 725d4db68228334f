/** A model of the hub into the hub cache: lists, checks room and consent, downloads what is missing, links, names it. */
import { mkdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import type { Rng } from '../../src/rng.ts'
import type { ChatClock } from '../chat/clock.ts'
import { downloadBlob } from './download-blob.ts'
import { blobPath, linkBlob, repositoryFolder, snapshotFolder, writeRef } from './hub-cache.ts'
import { requireModelId, requireRevision } from './model-id.ts'
import type { HubFile, HubListing, ModelHub } from './port.ts'
import { type LockHolder, withPullLock } from './pull-lock.ts'
import { selectFiles } from './select-files.ts'

export interface PullOptions {
  readonly hub: ModelHub
  readonly hubCache: string
  readonly model: string
  readonly revision: string
  /** Patterns that replace the default choice of files; empty for the default. */
  readonly include: readonly string[]
  /** More bytes than this to download need a yes. */
  readonly maxBytes: number
  readonly clock: ChatClock
  readonly rng: Rng
  readonly stallMs: number
  readonly signal: AbortSignal
  /** Once, where another pull of the model is at work: this one goes on when that one has ended. */
  readonly onWait: (holder: LockHolder | null) => void
  /** Once, before the first byte. */
  readonly onPlan: (plan: PullPlan) => void
  /** @param bytes of all files together that are there */
  readonly onBytes: (bytes: number, path: string) => void
}

export interface PullPlan {
  readonly commit: string
  readonly files: readonly HubFile[]
  readonly totalBytes: number
  /** In the cache already, whole or in part. */
  readonly presentBytes: number
}

export interface PulledModel {
  readonly model: string
  readonly revision: string
  readonly commit: string
  readonly directory: string
  readonly files: readonly string[]
  readonly totalBytes: number
  readonly downloadedBytes: number
}

/** Left free beside what is downloaded. */
const SPARE_BYTES = 100e6

/**
 * @throws option-invalid, endpoint-refused, endpoint-unreachable, model-not-found (no usable weights), consent-required,
 * disk-full, download-mismatch, and the signal's reason
 */
export async function pullModel(options: PullOptions): Promise<PulledModel> {
  const { hub, model, revision, signal } = options
  requireModelId(model)
  requireRevision(revision)
  const listing = await hub.list(model, revision, signal)
  return withPullLock(options, () => download(options, listing))
}

async function download(options: PullOptions, listing: HubListing): Promise<PulledModel> {
  const { hubCache, model, revision, signal } = options
  const { commit } = listing
  const files = selectFiles(listing.files, { model, include: options.include })
  const present = new Map(files.map((file) => [file, presentBytes(blobPath(hubCache, model, file.digest.hex), file)]))
  const totalBytes = sum(files.map((file) => file.sizeBytes))
  const there = sum([...present.values()])
  options.onPlan({ commit, files, totalBytes, presentBytes: there })
  requireConsent(options, totalBytes - there)
  await requireRoom(repositoryFolder(hubCache, model), totalBytes - there)

  const directory = snapshotFolder(hubCache, model, commit)
  let done = 0
  for (const file of files) {
    const blob = blobPath(hubCache, model, file.digest.hex)
    const before = done
    if (!isWhole(blob, file))
      await downloadBlob({
        ...options,
        commit,
        file,
        blob,
        onBytes: (bytes) => options.onBytes(before + bytes, file.path),
      })
    signal.throwIfAborted()
    linkBlob(join(directory, ...file.path.split('/')), blob)
    done += file.sizeBytes
    options.onBytes(done, file.path)
  }
  writeRef(hubCache, { model, revision, commit })
  return {
    model,
    revision,
    commit,
    directory,
    files: files.map((file) => file.path),
    totalBytes,
    downloadedBytes: totalBytes - there,
  }
}

/** A blob's name is its checksum and it got it after it was checked; its size is compared all the same. */
function isWhole(blob: string, file: HubFile): boolean {
  return statSync(blob, { throwIfNoEntry: false })?.size === file.sizeBytes
}

function presentBytes(blob: string, file: HubFile): number {
  if (isWhole(blob, file)) return file.sizeBytes
  return Math.min(statSync(`${blob}.incomplete`, { throwIfNoEntry: false })?.size ?? 0, file.sizeBytes)
}

function requireConsent(options: PullOptions, bytes: number): void {
  if (bytes <= options.maxBytes) return
  throw new AppError(
    'consent-required',
    `${options.model} takes ${gigabytes(bytes)} more to download, above ${gigabytes(options.maxBytes)}: run it again with --yes, or choose files with --include`,
    { details: { bytes, limit: options.maxBytes } },
  )
}

async function requireRoom(folder: string, bytes: number): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  if (bytes === 0 || bytes + SPARE_BYTES <= freeBytes) return
  throw new AppError(
    'disk-full',
    `${gigabytes(bytes)} are to be downloaded into ${folder}, where ${gigabytes(freeBytes)} are free: free some space, or set HF_HUB_CACHE to a larger disk`,
    { details: { bytes, freeBytes } },
  )
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(bytes < 1e8 ? 3 : 1)} GB`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
