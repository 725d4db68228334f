/**
 * Which code this is: the git commit of a checkout, or the package version of an installed package.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../models/package-root.ts'

const COMMIT = /^[0-9a-f]{40}$/

export function sourceVersion(root: string = packageFile()): string {
  return gitCommit(join(root, '.git')) ?? `keepready ${packageVersion(join(root, 'package.json'))}`
}

function gitCommit(git: string): string | null {
  const head = readText(join(git, 'HEAD'))
  if (head === null) return null
  if (!head.startsWith('ref: ')) return COMMIT.test(head) ? head : null
  const ref = head.slice('ref: '.length)
  const packed = readText(join(git, 'packed-refs'))
    ?.split('\n')
    .find((line) => line.endsWith(` ${ref}`))
    ?.split(' ')[0]
  const commit = readText(join(git, ref)) ?? packed ?? ''
  return COMMIT.test(commit) ? commit : null
}

/** Trimmed text of a file; null if it is not there. */
function readText(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

function packageVersion(path: string): string {
  const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return typeof parsed === 'object' && parsed !== null && 'version' in parsed ? String(parsed.version) : 'unknown'
}
