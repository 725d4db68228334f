/**
 * Which stage's output was made from which input: lets a second run of the demo reuse what is there.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'

const STAMP_FILE = 'demo.json'

/** @returns whether `stage` was finished with exactly this input and its output is still there */
export function isDone(
  directory: string,
  stage: { readonly name: string; readonly key: string; readonly output: string },
): boolean {
  return existsSync(join(directory, stage.output)) && readStamps(directory)[stage.name] === stage.key
}

export async function markDone(
  directory: string,
  stage: { readonly name: string; readonly key: string },
): Promise<void> {
  const stamps = { ...readStamps(directory), [stage.name]: stage.key }
  await writeTextWhole(nodeFiles, join(directory, STAMP_FILE), `${JSON.stringify(stamps, null, 2)}\n`)
}

/** Key of a stage: what its result depends on. */
export function stageKey(files: readonly string[], options: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(options))
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function readStamps(directory: string): Readonly<Record<string, string>> {
  const path = join(directory, STAMP_FILE)
  if (!existsSync(path)) return {}
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {}
}
