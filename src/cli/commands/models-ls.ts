/** keepready models ls: the checkpoints that are on this machine already. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { type CacheFolders, cacheFolders } from '../../../models/cache-folders.ts'
import { openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { listSnapshots } from '../../../models/hub/hub-cache.ts'
import { EMBEDDED_MODEL, embeddedModelDirectory } from '../../../models/model-directory.ts'
import { toAppError } from '../../errors.ts'
import type { CommandResult } from '../command-context.ts'
import { readEnvironment } from '../environment.ts'
import { formatBytes } from '../format-bytes.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'

interface Listed {
  /** What --model takes. */
  readonly model: string
  readonly directory: string
  readonly architecture: string | null
  readonly layers: number | null
  readonly bytes: number
  /** Why it cannot be used. */
  readonly problem: { readonly code: string; readonly message: string } | null
}

export function createLs(): Command {
  const command = new Command('ls')
    .summary('the models that are on this machine')
    .description(
      'Lists the embedded model, the models in the cache that Hugging Face tools share, and what lies in ' +
        "keepready's own cache (~/.cache/keepready), with what each is good for here. Nothing is downloaded.",
    )
    .addHelpText('after', '\nExample:\n  $ keepready models ls')
  return withAction<object>(command, async () => runLs(cacheFolders(readEnvironment())))
}

function runLs(folders: CacheFolders): CommandResult {
  const models = [
    look(EMBEDDED_MODEL, embeddedModelDirectory()),
    ...listSnapshots(folders.hub).map(({ model, commit, revisions, directory }) =>
      look(revisions.includes('main') ? model : `${model}@${revisions[0] ?? commit}`, directory),
    ),
    ...[folders.keepready, join(folders.keepready, 'gguf')].flatMap((folder) =>
      checkpointFolders(folder).map((directory) => look(directory, directory)),
    ),
  ]
  const table = createResultTable(['model', 'architecture', '>layers', '>size', 'state'])
  for (const { model, architecture, layers, bytes, problem } of models)
    table.push([
      model,
      architecture ?? '-',
      layers ?? '-',
      formatBytes(bytes),
      problem === null ? 'ready' : problem.code,
    ])
  const lines = [table.toString(), `caches: ${folders.hub}, ${folders.keepready}`]
  if (models.some(({ problem }) => problem !== null)) lines.push('why one is not ready: keepready models verify MODEL')
  return { data: { models, caches: { hub: folders.hub, keepready: folders.keepready } }, text: lines.join('\n') }
}

function look(model: string, directory: string): Listed {
  const bytes = sizeOf(directory)
  try {
    const { architecture, layerCount } = openCheckpoint(directory).config
    return { model, directory, architecture, layers: layerCount, bytes, problem: null }
  } catch (thrown) {
    const { code, message } = toAppError(thrown)
    return { model, directory, architecture: null, layers: null, bytes, problem: { code, message } }
  }
}

/** Links count as what they point to; a link that points nowhere as nothing. */
function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(directory, name), { throwIfNoEntry: false }))
    .reduce((sum, stats) => sum + (stats?.isFile() === true ? stats.size : 0), 0)
}

function checkpointFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
    .filter((directory) => existsSync(join(directory, 'config.json')))
}
