/**
 * One SHA-256 for everything on disk that decides a hidden vector: config, tokenizer and weights. File digests are
 * remembered by real path, inode, size and modification time, so a second call costs a few stats.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { resolveModelFile } from '../model-files.ts'
import { weightFileNames } from './checkpoint.ts'

const CHUNK_BYTES = 1 << 20

/** Grows by one short string per distinct file and version that this process has hashed. */
const digests = new Map<string, string>()

const TEXT_FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json']

/**
 * Over config.json, tokenizer.json, tokenizer_config.json (it decides BOS) and the weight files, in name order; whatever
 * else lies in the directory does not count.
 * @returns 64 hex digits over the names and digests of those files
 * @throws safetensors-missing, model-link-escapes
 */
export function hashModelFiles(directory: string): string {
  const whole = createHash('sha256')
  for (const name of [...TEXT_FILES, ...weightFileNames(directory)].sort()) {
    const file = resolveModelFile(directory, name)
    // A dangling link has no bytes; opening the checkpoint will name it.
    if (file !== null) whole.update(`${name}\0${digestOf(file)}\n`)
  }
  return whole.digest('hex')
}

function digestOf(file: string): string {
  const { ino, size, mtimeMs } = statSync(file)
  const key = [file, ino, size, mtimeMs].join('\0')
  const known = digests.get(key)
  if (known !== undefined) return known
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    for (let got = -1; got !== 0; ) {
      got = readSync(descriptor, chunk, 0, CHUNK_BYTES, null)
      hash.update(chunk.subarray(0, got))
    }
  } finally {
    closeSync(descriptor)
  }
  const digest = hash.digest('hex')
  digests.set(key, digest)
  return digest
}
