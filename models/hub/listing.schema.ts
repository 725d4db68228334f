/** What the hub's API says about a repository. It becomes paths and sizes on this machine, so every field is checked. */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import type { HubFile } from './port.ts'

const sizeBytes = z.int().nonnegative()

const entrySchema = z.looseObject({
  type: z.string(),
  path: z.string().min(1).max(1000),
  size: sizeBytes.default(0),
  oid: z.string().optional(),
  lfs: z.looseObject({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: sizeBytes }).nullish(),
})

const commitSchema = z.string().regex(/^[0-9a-f]{40}$/)

/** @throws download-mismatch */
export function parseCommit(value: unknown, where: string): string {
  const parsed = commitSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw mismatch(where, `names no commit of 40 digits: ${JSON.stringify(value)?.slice(0, 100)}`)
}

/**
 * @returns null for what is no file
 * @throws download-mismatch
 */
export function parseHubEntry(value: unknown, where: string): HubFile | null {
  const parsed = entrySchema.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw mismatch(where, `lists a file whose ${issue?.path.join('.') ?? 'entry'} is wrong: ${issue?.message}`)
  }
  const { type, path, size, oid, lfs } = parsed.data
  if (type !== 'file') return null
  const segments = path.split('/')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these belongs into a path
  if (/[\\\u0000-\u001f]/.test(path) || segments.some((segment) => segment === '' || /^\.{1,2}$/.test(segment)))
    throw mismatch(where, `lists a file called ${JSON.stringify(path)}, which is no path inside a repository`)
  if (lfs !== null && lfs !== undefined) return { path, sizeBytes: lfs.size, digest: { kind: 'sha256', hex: lfs.oid } }
  if (oid === undefined || !/^[0-9a-f]{40}$/.test(oid)) throw mismatch(where, `gives ${path} no checksum`)
  return { path, sizeBytes: size, digest: { kind: 'git-sha1', hex: oid } }
}

function mismatch(where: string, what: string): AppError {
  return new AppError('download-mismatch', `${where} ${what}: is it a Hugging Face hub?`)
}
