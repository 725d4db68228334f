/**
 * A GGUF file read by position: the header parser and the conversion see bytes at offsets, never the whole file.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { AppError } from '../../src/errors.ts'

export interface GgufSource {
  /** For messages. */
  readonly name: string
  readonly sizeBytes: number
  /**
   * Exactly `length` bytes from `offset` on.
   * @throws gguf-invalid if the file ends before
   */
  read(offset: number, length: number): Uint8Array
  close(): void
}

/** @throws file-not-found, file-unreadable */
export function openGgufFile(path: string): GgufSource {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    throw new AppError(
      missing ? 'file-not-found' : 'file-unreadable',
      `cannot open ${path}${missing ? ': it does not exist' : ''}: give the path of a .gguf file`,
      { cause },
    )
  }
  const stats = fstatSync(file)
  if (!stats.isFile()) {
    closeSync(file)
    throw new AppError('file-unreadable', `${path} is no file: give the path of a .gguf file`)
  }
  return {
    name: path,
    sizeBytes: stats.size,
    read(offset, length) {
      if (offset + length > stats.size) throw endsEarly(path, stats.size, offset + length)
      const bytes = Buffer.allocUnsafeSlow(length)
      for (let done = 0; done < length; ) {
        const got = readSync(file, bytes, done, Math.min(length - done, 1 << 30), offset + done)
        if (got === 0) throw endsEarly(path, offset + done, offset + length)
        done += got
      }
      return bytes
    },
    close: () => closeSync(file),
  }
}

/** For tests and fuzzing: a file that never was on disk. */
export function ggufFromBytes(name: string, bytes: Uint8Array): GgufSource {
  return {
    name,
    sizeBytes: bytes.length,
    read(offset, length) {
      if (offset + length > bytes.length) throw endsEarly(name, bytes.length, offset + length)
      return bytes.slice(offset, offset + length)
    },
    close: () => undefined,
  }
}

function endsEarly(name: string, sizeBytes: number, neededBytes: number): AppError {
  return new AppError(
    'gguf-invalid',
    `${name} ends at byte ${sizeBytes}, ${neededBytes} are needed: it is cut off; download or copy it again`,
  )
}
