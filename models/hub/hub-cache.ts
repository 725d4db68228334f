/**
 * The layout of the hub cache, shared with huggingface_hub and every tool that uses it:
 *   models--ORG--NAME/blobs/DIGEST, refs/REVISION (a commit), snapshots/COMMIT/PATH (a relative link into blobs)
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { isModelId } from './model-id.ts'

const PREFIX = 'models--'
const COMMIT = /^[0-9a-f]{40}$/

export interface CachedSnapshot {
  readonly model: string
  readonly commit: string
  /** Branches and tags that stood for this commit when they were pulled. */
  readonly revisions: readonly string[]
  readonly directory: string
}

export function repositoryFolder(hubCache: string, model: string): string {
  return join(hubCache, PREFIX + model.split('/').join('--'))
}

export function snapshotFolder(hubCache: string, model: string, commit: string): string {
  return join(repositoryFolder(hubCache, model), 'snapshots', commit)
}

export function blobPath(hubCache: string, model: string, digest: string): string {
  return join(repositoryFolder(hubCache, model), 'blobs', digest)
}

/** Puts a blob into a snapshot; a link that is there is replaced. */
export function linkBlob(link: string, blob: string): void {
  mkdirSync(dirname(link), { recursive: true })
  const temporary = `${link}.${process.pid}.part`
  rmSync(temporary, { force: true })
  symlinkSync(relative(dirname(link), blob), temporary)
  renameSync(temporary, link)
}

/** Written last: a revision that can be found is complete. */
export function writeRef(hubCache: string, of: { model: string; revision: string; commit: string }): void {
  if (COMMIT.test(of.revision)) return
  const path = join(repositoryFolder(hubCache, of.model), 'refs', ...of.revision.split('/'))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.part`, of.commit)
  renameSync(`${path}.part`, path)
}

/**
 * The snapshot of a revision, as far as this machine knows; nothing is asked of the hub.
 * @returns null where the revision was never pulled
 */
export function findSnapshot(hubCache: string, model: string, revision: string): string | null {
  const ref = join(repositoryFolder(hubCache, model), 'refs', ...revision.split('/'))
  const commit = COMMIT.test(revision) ? revision : readCommit(ref)
  if (commit === null) return null
  const directory = snapshotFolder(hubCache, model, commit)
  return existsSync(directory) ? directory : null
}

/** Every snapshot of every model, in name order. A cache that does not exist is empty. */
export function listSnapshots(hubCache: string): readonly CachedSnapshot[] {
  return listFolder(hubCache).flatMap((entry) => {
    const model = entry.slice(PREFIX.length).replace('--', '/')
    if (!entry.startsWith(PREFIX) || !isModelId(model)) return []
    const folder = join(hubCache, entry)
    const refs = listRefs(join(folder, 'refs'))
    return listFolder(join(folder, 'snapshots'))
      .filter((commit) => COMMIT.test(commit))
      .map((commit) => ({
        model,
        commit,
        revisions: refs.filter((ref) => ref.commit === commit).map((ref) => ref.name),
        directory: join(folder, 'snapshots', commit),
      }))
  })
}

function listRefs(folder: string): readonly { readonly name: string; readonly commit: string }[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .flatMap((name) => {
      const commit = readCommit(join(folder, name))
      return commit === null ? [] : [{ name, commit }]
    })
}

function readCommit(path: string): string | null {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
  const text = readFileSync(path, 'utf8').trim()
  return COMMIT.test(text) ? text : null
}

function listFolder(path: string): readonly string[] {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path).sort() : []
}
