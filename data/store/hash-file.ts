import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { WrittenFile } from './file-seam.ts'

/** Size and SHA-256 of a file, read in pieces. */
export async function hashFile(path: string): Promise<WrittenFile> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    sizeBytes += chunk.length
  }
  return { sizeBytes, sha256: hash.digest('hex') }
}
