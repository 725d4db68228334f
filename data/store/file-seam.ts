/**
 * The seam through which datasets are written, so that a test can fill the disk. Reading uses node:fs directly.
 * Everything that gets a final name was complete and on the disk before it got it.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../src/errors.ts'

/** An open file that is being written from its start. */
export interface FileSink {
  /** All bytes are written when it resolves. */
  write(bytes: Uint8Array): Promise<void>
  /** The bytes survive a power loss when it resolves. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface FileSeam {
  /** Creates or empties a file; readable and writable by its owner alone (0600): it may hold history text. */
  create(path: string): Promise<FileSink>
  rename(from: string, to: string): Promise<void>
  /** Removes a file or a folder with all it holds; nothing there is fine. */
  remove(path: string): Promise<void>
  /** Parents too; an existing folder is fine. */
  makeDirectory(path: string): Promise<void>
  /** Renames inside this folder survive a power loss when it resolves. */
  syncDirectory(path: string): Promise<void>
}

export const OWNER_FILE = 0o600
const OWNER_DIRECTORY = 0o700

export const nodeFiles: FileSeam = {
  async create(path) {
    const handle = await open(path, 'w', OWNER_FILE)
    return {
      async write(bytes) {
        let done = 0
        while (done < bytes.length) done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten
      },
      sync: () => handle.sync(),
      close: () => handle.close(),
    }
  },
  rename,
  remove: (path) => rm(path, { recursive: true, force: true }),
  makeDirectory: async (path) => {
    await mkdir(path, { recursive: true, mode: OWNER_DIRECTORY })
  },
  async syncDirectory(path) {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}

/**
 * Opens a file to read and append to, readable by its owner alone; makes it and its folders where they are not there.
 * @throws disk-full, file-unreadable
 */
export async function openToAppend(path: string): Promise<FileHandle> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: OWNER_DIRECTORY })
    return await open(path, 'a+', OWNER_FILE)
  } catch (thrown) {
    throw translateWriteFailure(thrown, path)
  }
}

/** Ending of files that are being written; whatever carries it after a crash is rubbish. */
export const UNFINISHED = '.tmp'

export interface WrittenFile {
  readonly sizeBytes: number
  readonly sha256: string
}

/**
 * Writes a whole file or nothing: to a neighbour first, synced, then renamed.
 *   fill  gets a function that appends bytes
 * @throws disk-full when the disk, a quota or a file size limit is exhausted; the old file, if any, is still there
 */
export async function writeFileWhole(
  files: FileSeam,
  path: string,
  fill: (append: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<WrittenFile> {
  const unfinished = `${path}${UNFINISHED}`
  const hash = createHash('sha256')
  let sizeBytes = 0
  try {
    const sink = await files.create(unfinished)
    try {
      await fill(async (bytes) => {
        hash.update(bytes)
        sizeBytes += bytes.length
        await sink.write(bytes)
      })
      await sink.sync()
    } finally {
      await sink.close()
    }
    await files.rename(unfinished, path)
    await files.syncDirectory(dirname(path))
  } catch (thrown) {
    await removeQuietly(files, unfinished)
    throw translateWriteFailure(thrown, path, sizeBytes)
  }
  return { sizeBytes, sha256: hash.digest('hex') }
}

export async function writeTextWhole(files: FileSeam, path: string, text: string): Promise<WrittenFile> {
  return writeFileWhole(files, path, (append) => append(new TextEncoder().encode(text)))
}

/** The write's own failure is what the caller must hear of; a leftover is removed by the next run. */
async function removeQuietly(files: FileSeam, path: string): Promise<void> {
  try {
    await files.remove(path)
  } catch (thrown) {
    if (systemCode(thrown) === null) throw thrown
  }
}

/** ENOSPC: no room; EDQUOT: quota; EFBIG: `ulimit -f` or the file system's own limit. */
const FULL = new Map([
  ['ENOSPC', 'no space is left on the disk'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'the file size limit is reached (see `ulimit -f`)'],
])

/** System errors become disk-full or file-unreadable; anything else passes through. */
export function translateWriteFailure(thrown: unknown, path: string, sizeBytes = 0): unknown {
  const code = systemCode(thrown)
  if (code === null) return thrown
  const full = FULL.get(code)
  const details = { path, errno: code, sizeBytes }
  if (full === undefined)
    return new AppError(
      'file-unreadable',
      `cannot write ${path}: ${code}: check that its folder is yours to write to`,
      {
        cause: thrown,
        details,
      },
    )
  return new AppError(
    'disk-full',
    `cannot write ${path}: ${full} after ${sizeBytes} bytes: what is finished is kept; ` +
      `make room in ${dirname(path)} and run the same command again`,
    { cause: thrown, details },
  )
}

/** e.g. ENOSPC; null for what the operating system did not raise (Node's own codes start with ERR_). */
function systemCode(thrown: unknown): string | null {
  if (thrown instanceof AppError || !(thrown instanceof Error) || !('code' in thrown)) return null
  return typeof thrown.code === 'string' && /^E[A-Z0-9]+$/.test(thrown.code) ? thrown.code : null
}
