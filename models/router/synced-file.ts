/** Files of an artefact that survive a power cut once they are written. */
import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export function writeSynced(path: string, content: string | Uint8Array): void {
  const file = openSync(path, 'w')
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  syncDirectory(dirname(path))
}

/** A rename survives a power cut only once the directory itself is synced. */
export function syncDirectory(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
