/** Text that the person at the command line names: a file, or - for stdin. */
import { readFileSync } from 'node:fs'
import { AppError } from '../errors.ts'

/** @throws file-not-found, file-unreadable */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    if (code === 'ENOENT') throw new AppError('file-not-found', `no file ${path}: check the path`, { cause })
    throw new AppError('file-unreadable', `cannot read ${path} (${code}): check that it is a file you may read`, {
      cause,
    })
  }
}
