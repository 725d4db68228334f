/** What --model means on this machine, for commands: a GGUF file is converted with progress, a hub model found in its cache. */
import { cacheFolders } from '../../models/cache-folders.ts'
import { resolveModel } from '../../models/resolve-model.ts'
import type { CommandContext } from './command-context.ts'
import { readEnvironment } from './environment.ts'
import { formatBytes } from './format-bytes.ts'
import { type Progress, startProgress } from './progress.ts'

/** @throws model-not-found, and for GGUF files what convertGguf throws */
export async function findModel(nameOrPath: string, context: CommandContext): Promise<string> {
  const { hub, keepready } = cacheFolders(readEnvironment())
  let progress: Progress | null = null
  let total = 0
  const directory = await resolveModel(nameOrPath, {
    hub,
    keepready,
    signal: context.signal,
    onProgress({ bytes, totalBytes }) {
      total = totalBytes
      progress ??= startProgress(context, { stage: 'convert', total: totalBytes / 1e6, unit: 'MB' })
      progress.update(bytes / 1e6)
    },
  })
  doneIfStarted(progress, `${formatBytes(total)} of GGUF, kept in ${directory}`)
  return directory
}

function doneIfStarted(progress: Progress | null, figure: string): void {
  progress?.done(figure)
}
