/**
 * Which stage's output was made from which input: lets a second run of the same stages reuse what is there.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFiles, writeTextWhole } from '../../data/store/file-seam.ts'

/** Where stages leave their outputs, and the file in it that says which of them are done. */
export interface StageFolder {
  readonly directory: string
  readonly stamps: string
}

/** @returns whether `stage` was finished with exactly this input and its output is still there */
export function isDone(
  folder: StageFolder,
  stage: { readonly name: string; readonly key: string; readonly output: string },
): boolean {
  return existsSync(join(folder.directory, stage.output)) && readStamps(folder)[stage.name] === stage.key
}

export async function markDone(
  folder: StageFolder,
  stage: { readonly name: string; readonly key: string },
): Promise<void> {
  const stamps = { ...readStamps(folder), [stage.name]: stage.key }
  await writeTextWhole(nodeFiles, stampsPath(folder), `${JSON.stringify(stamps, null, 2)}\n`)
}

/** Key of a stage: what its result depends on. */
export function stageKey(files: readonly string[], options: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(options))
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function stampsPath({ directory, stamps }: StageFolder): string {
  return join(directory, stamps)
}

function readStamps(folder: StageFolder): Readonly<Record<string, string>> {
  const path = stampsPath(folder)
  if (!existsSync(path)) return {}
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {}
}
