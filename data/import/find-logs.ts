/**
 * Expands the paths of a command into log files, in a fixed order: as given, and by name inside a folder.
 */
import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { AppError } from '../../src/errors.ts'

export interface FoundLog {
  readonly path: string
  /** Path as given; inside a folder it starts at that folder's own name: the same on every machine. Forward slashes. */
  readonly name: string
  /** It may as well be a text of another kind: a log only when an importer recognises it. */
  readonly isWeak: boolean
}

export interface FoundLogs {
  readonly logs: readonly FoundLog[]
  /** Names of files in the walked folders that are no logs by their name, e.g. LICENSE, README.md. */
  readonly skipped: readonly string[]
  /** Paths that cannot be looked at: they do not stop the others. */
  readonly failed: readonly { readonly name: string; readonly error: AppError }[]
}

export const LOG_ENDINGS = ['.json', '.jsonl', '.ndjson', '.traj', '.ipynb', '.eval']
/** Some agents write logs under these, most files under them are none. */
export const WEAK_ENDINGS = ['.md', '.log', '.txt']
/** Files that stand beside logs and describe them. */
const SIDE_ENDINGS = ['.metadata.json', '.metrics.json']
const SIDE_FILES = new Set(['package.json', 'package-lock.json', 'tsconfig.json'])
/** A Claude Code sub-agent in a file of its own. */
const SUB_AGENT_FILE = /(?:^|\/)agent-[^/]*\.jsonl$/
const SKIPPED_FOLDERS = new Set(['node_modules'])

/**
 * A file named by the caller is always taken; in a folder only those with the ending of a log, hidden entries aside.
 * Files of sub-agents come last: the run that started one must be known before it.
 */
export async function findLogs(paths: readonly string[]): Promise<FoundLogs> {
  const logs = new Map<string, FoundLog>()
  const skipped: string[] = []
  const failed: { name: string; error: AppError }[] = []
  const take = (log: FoundLog): void => {
    const known = logs.get(resolve(log.path))
    if (known === undefined || (known.isWeak && !log.isWeak)) logs.set(resolve(log.path), log)
  }
  const walk = async (folder: string, nameOf: (path: string) => string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true })
    entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const name = nameOf(path)
      if (entry.name.startsWith('.') || SKIPPED_FOLDERS.has(entry.name)) continue
      try {
        // A link to a folder is not followed: it may lead back up.
        if (entry.isDirectory()) await walk(path, nameOf)
        else if (!isLog(name)) skipped.push(name)
        else if ((await stat(path)).isFile()) take({ path, name, isWeak: hasEnding(name, WEAK_ENDINGS) })
      } catch (cause) {
        failed.push({ name, error: unreadable(path, cause) })
      }
    }
  }
  for (const path of paths) {
    const name = path.replaceAll('\\', '/')
    try {
      if ((await stat(path)).isDirectory())
        await walk(path, (file) => join(basename(resolve(path)), relative(path, file)).replaceAll('\\', '/'))
      else take({ path, name, isWeak: false })
    } catch (cause) {
      failed.push({ name, error: unreadable(path, cause) })
    }
  }
  const found = [...logs.values()]
  const isSubAgent = ({ name }: FoundLog): boolean => SUB_AGENT_FILE.test(name)
  return { logs: [...found.filter((log) => !isSubAgent(log)), ...found.filter(isSubAgent)], skipped, failed }
}

function isLog(name: string): boolean {
  if (SIDE_FILES.has(basename(name)) || hasEnding(name, SIDE_ENDINGS)) return false
  return hasEnding(name, LOG_ENDINGS) || hasEnding(name, WEAK_ENDINGS)
}

function hasEnding(name: string, endings: readonly string[]): boolean {
  const lower = name.toLowerCase()
  return endings.some((ending) => lower.endsWith(ending))
}

/** A file system failure as file-not-found or file-unreadable. */
export function unreadable(path: string, cause: unknown): AppError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return code === 'ENOENT'
    ? new AppError('file-not-found', `${path} does not exist: check the path`, { cause })
    : new AppError('file-unreadable', `cannot read ${path} (${code || String(cause)}): check its permissions`, {
        cause,
      })
}
