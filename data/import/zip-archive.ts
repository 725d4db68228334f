/**
 * Reads the text files of a zip archive from outside, without unpacking it to the disk. Sizes are limited before anything
 * is inflated and counted while it is, so a bomb or a lying header ends as `archive-refused` and not as an exhausted machine.
 */
import { stat } from 'node:fs/promises'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { AppError } from '../../src/errors.ts'
import { unreadable } from './find-logs.ts'

export interface ZipLimits {
  /** An evaluation has one entry per sample and epoch; large ones hold some 10,000. */
  readonly entries: number
  /** Inflated size of one entry: what a JSON file may have. */
  readonly entryBytes: number
  /** Inflated size of all entries together, and of all that is read. */
  readonly totalBytes: number
  /** Inflated over compressed size of one entry of a megabyte or more. Logs reach about 40; deflate can make 1030. */
  readonly ratio: number
}

export const ZIP_LIMITS: ZipLimits = {
  entries: 200_000,
  entryBytes: 256 * 1024 * 1024,
  totalBytes: 4 * 1024 * 1024 * 1024,
  ratio: 200,
}

/** Below this a high ratio does no harm: an entry of spaces is small. */
const RATIO_FROM_BYTES = 1024 * 1024

export interface ZipEntry {
  /** Relative path inside the archive, forward slashes. */
  readonly name: string
  /** Inflated size, as the archive says it. */
  readonly sizeBytes: number
}

export interface ZipArchive {
  /** Files in the order of the archive, folders left out; of a repeated name only the last one, as zip tools have it. */
  readonly entries: readonly ZipEntry[]
  /**
   * Whole text of one file, read as UTF-8, without a BOM.
   * @throws file-not-found (no such entry), archive-refused (encrypted, unknown compression, more bytes than declared or
   * allowed), log-malformed (damaged data)
   */
  readText(name: string): Promise<string>
  close(): void
  [Symbol.dispose](): void
}

/**
 * @throws file-not-found, file-unreadable, log-malformed (no zip archive, or torn), archive-refused (a limit, a path that
 * leads out of the archive, a symbolic link, overlapping entries)
 */
export async function openZip(path: string, limits: ZipLimits = ZIP_LIMITS): Promise<ZipArchive> {
  const refuse = (problem: string): AppError => new AppError('archive-refused', `${path} is not read: ${problem}`)
  const zip = await openFile(path)
  try {
    if (zip.entryCount > limits.entries)
      throw refuse(`it holds ${zip.entryCount} entries, the limit is ${limits.entries}`)
    const found = await readDirectory(zip, { limits, refuse })
    return archiveOf(zip, { path, limits, refuse, found })
  } catch (cause) {
    zip.close()
    throw translated(path, cause)
  }
}

async function openFile(path: string): Promise<ZipFile> {
  try {
    await stat(path)
    // A name with a backslash is refused rather than rewritten.
    return await yauzl.openPromise(path, { autoClose: false, strictFileNames: true })
  } catch (cause) {
    throw translated(path, cause)
  }
}

interface Guard {
  readonly limits: ZipLimits
  readonly refuse: (problem: string) => AppError
}

async function readDirectory(zip: ZipFile, { limits, refuse }: Guard): Promise<ReadonlyMap<string, Entry>> {
  const found = new Map<string, Entry>()
  let total = 0
  let compressed = 0
  for await (const entry of zip.eachEntry()) {
    const { fileName: name, uncompressedSize, compressedSize } = entry
    if (isSymbolicLink(entry)) throw refuse(`its entry ${name} is a symbolic link`)
    if (uncompressedSize > limits.entryBytes)
      throw refuse(`its entry ${name} holds ${uncompressedSize} bytes, the limit is ${limits.entryBytes}`)
    if (uncompressedSize >= RATIO_FROM_BYTES && uncompressedSize > limits.ratio * compressedSize)
      throw refuse(
        `its entry ${name} inflates ${compressedSize} bytes to ${uncompressedSize}, the limit is ${limits.ratio} times`,
      )
    total += uncompressedSize
    compressed += compressedSize
    if (total > limits.totalBytes) throw refuse(`its entries hold more than the limit of ${limits.totalBytes} bytes`)
    if (compressed > zip.fileSize) throw refuse('its entries overlap: together they are larger than the file')
    if (!name.endsWith('/')) found.set(name, entry)
  }
  return found
}

/** Unix file mode in the upper half of the attributes. */
function isSymbolicLink(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> 16) & 0o170000) === 0o120000
}

function archiveOf(
  zip: ZipFile,
  about: Guard & { readonly path: string; readonly found: ReadonlyMap<string, Entry> },
): ZipArchive {
  const { path, limits, refuse, found } = about
  let inflated = 0
  const readText = async (name: string): Promise<string> => {
    const entry = found.get(name)
    if (entry === undefined) throw new AppError('file-not-found', `${path} holds no entry ${name}`)
    if (entry.isEncrypted()) throw refuse(`its entry ${name} is encrypted`)
    if (!entry.canDecodeFileData())
      throw refuse(
        `its entry ${name} has the compression method ${entry.compressionMethod}; stored and deflate are read`,
      )
    try {
      const chunks: Buffer[] = []
      let sizeBytes = 0
      for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
        sizeBytes += chunk.length
        inflated += chunk.length
        if (sizeBytes > entry.uncompressedSize)
          throw refuse(`its entry ${name} holds more than the ${entry.uncompressedSize} bytes it declares`)
        if (inflated > limits.totalBytes) throw refuse(`more than the limit of ${limits.totalBytes} bytes was read`)
        chunks.push(chunk)
      }
      const text = Buffer.concat(chunks).toString('utf8')
      return text.startsWith('\ufeff') ? text.slice(1) : text
    } catch (cause) {
      throw translated(path, cause)
    }
  }
  const close = (): void => zip.close()
  return {
    entries: [...found].map(([name, entry]) => ({ name, sizeBytes: entry.uncompressedSize })),
    readText,
    close,
    [Symbol.dispose]: close,
  }
}

/** What the reader says of a name that leads out of the archive, and of sizes that are not true. */
const REFUSED = /^(?:absolute path|invalid relative path|invalid characters in fileName|too many bytes in the stream)/

function translated(path: string, cause: unknown): unknown {
  if (cause instanceof AppError || !(cause instanceof Error)) return cause
  const code = 'code' in cause ? String(cause.code) : ''
  if (/^E[A-Z]+$/.test(code)) return unreadable(path, cause)
  if (REFUSED.test(cause.message))
    return new AppError('archive-refused', `${path} is not read: ${cause.message}`, { cause })
  return new AppError(
    'log-malformed',
    `${path} is no whole zip archive (${cause.message}): it is torn or damaged; get it again, or leave it out`,
    { cause },
  )
}
