/**
 * The whole path on sample logs: import, annotate, extract, train, evaluate, serve. Each stage is the command of its name
 * with the demo's caps; a stage whose inputs have not changed is reused.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { annotateLineage } from '../../../data/annotate/lineage.ts'
import { claudeCodeToAnthropicMessages } from '../../../data/import/claude-code-messages.ts'
import { importFiles } from '../../../data/import/import-files.ts'
import { writeLabels } from '../../../data/store/labels.ts'
import { writeRuns } from '../../../data/store/runs.ts'
import { DEFAULT_PREFIX_CACHE_MB } from '../../../models/frozen-lm/prefix-cache.ts'
import { packageFile } from '../../../models/package-root.ts'
import { AppError, invariant } from '../../errors.ts'
import type { Trajectory } from '../../trajectory/trajectory.ts'
import type { CommandContext } from '../command-context.ts'
import { runEvaluate } from '../commands/evaluate.ts'
import { runExtract } from '../commands/extract.ts'
import { runTrain } from '../commands/train.ts'
import { formatCount, startProgress } from '../progress.ts'
import { isDone, markDone, stageKey } from '../stage-stamps.ts'
import { DEMO_CAPS } from './demo-caps.ts'
import { type ServedHistory, serveHistory } from './serve-history.ts'

const DEMO_HISTORY = join('demo-history', 'demo-history.claude-code.jsonl')

export interface DemoResult {
  readonly out: string
  readonly reused: readonly string[]
  readonly runs: number
  readonly formats: readonly string[]
  readonly heldOutGroup: string
  readonly summary: readonly string[]
  readonly served: ServedHistory
}

export async function runDemo(
  context: CommandContext,
  options: { readonly out: string; readonly fresh: boolean; readonly seed: number },
): Promise<DemoResult> {
  const { out, seed } = options
  if (options.fresh) rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const path = (name: string): string => join(out, name)
  const folder = { directory: out, stamps: 'demo.json' }
  const reused: string[] = []
  const stage = async (
    name: string,
    given: { key: string; output: string; run: () => Promise<unknown> },
  ): Promise<void> => {
    if (isDone(folder, { name, ...given })) {
      context.writeErr(`${name}: reusing ${path(given.output)} (--fresh starts over)\n`)
      reused.push(name)
      return
    }
    await given.run()
    await markDone(folder, { name, key: given.key })
  }

  const samples = packageFile('data', 'samples')
  const imported = await importSamples(context, samples)
  await writeRuns(path('runs.jsonl'), imported.training)
  await annotate(context, imported.training, path('labels.jsonl'))

  const { viewBudget, maxCheckpointsPerRun, width, bootstrap } = DEMO_CAPS
  const extracted = await runExtract(
    context,
    {
      labels: path('labels.jsonl'),
      model: 'tiny',
      layer: 'default',
      recipe: 'once',
      viewBudget: String(viewBudget),
      storage: 'f16',
      maxCheckpointsPerRun: String(maxCheckpointsPerRun),
      workers: String(Math.min(2, availableParallelism())),
      prefixCacheMb: String(DEFAULT_PREFIX_CACHE_MB),
      out: path('dataset'),
      fresh: false,
      seed: String(seed),
    },
    [path('runs.jsonl')],
  )
  if (isUnchanged(extracted.data)) {
    context.writeErr(`extract: reusing ${path('dataset')} (--fresh starts over)\n`)
    reused.push('extract')
  }
  await stage('train', {
    key: stageKey([path('dataset/manifest.json')], { width, seed }),
    output: 'router/router.json',
    run: () =>
      runTrain(
        context,
        {
          out: path('router'),
          inputs: 'auto',
          width,
          seed,
          workers: Math.min(2, availableParallelism()),
          // The same numbers on every machine.
          backend: 'ort-cpu',
        },
        [path('dataset')],
      ),
  })
  await stage('evaluate', {
    key: stageKey([path('dataset/manifest.json'), path('router/router.json')], { bootstrap, seed }),
    output: 'report/index.html',
    run: () =>
      runEvaluate(context, { router: path('router'), out: path('report'), bootstrap, seed }, [path('dataset')]),
  })

  const progress = startProgress(context, { stage: 'serve', total: null, unit: 'requests' })
  const served = await serveHistory(context, {
    router: path('router'),
    request: claudeCodeToAnthropicMessages(join(samples, DEMO_HISTORY)),
  })
  const requests = served.points.length * 3
  progress.done(`${requests} requests to ${served.url}, ${formatCount(requests / served.seconds)}/s, stopped`)
  return {
    out,
    reused,
    runs: imported.training.length,
    formats: imported.formats,
    heldOutGroup: imported.heldOutGroup,
    summary: readSummary(path('report/metrics.json')),
    served,
  }
}

interface ImportedSamples {
  readonly training: readonly Trajectory[]
  readonly formats: readonly string[]
  readonly heldOutGroup: string
}

/** Every sample but the demo history's group: the server will be asked about that one. */
async function importSamples(context: CommandContext, samples: string): Promise<ImportedSamples> {
  const progress = startProgress(context, { stage: 'import', total: null, unit: 'files' })
  const result = await importFiles([samples], {
    signal: context.signal,
    onFile: (_file, number) => progress.update(number),
  })
  const held = result.trajectories.find((run) => run.source.file.endsWith(DEMO_HISTORY))
  const group = invariant(held, `the demo history ${DEMO_HISTORY} is among the samples`).group
  const training = result.trajectories.filter((run) => run.group !== group)
  const formats = [...new Set(training.map((run) => run.format))].sort()
  const removed = result.trajectories.length - training.length
  progress.done(
    `${result.trajectories.length} runs of ${formats.length} formats (${formats.join(', ')}); ` +
      `the demo history's group (${removed} run) is removed before any split`,
  )
  return { training, formats, heldOutGroup: group }
}

async function annotate(context: CommandContext, runs: readonly Trajectory[], out: string): Promise<void> {
  const progress = startProgress(context, { stage: 'annotate', total: runs.length, unit: 'runs' })
  const rows = runs.map((run, done) => {
    const row = annotateLineage(run)
    progress.update(done + 1)
    return row
  })
  await writeLabels(out, rows)
  const labels = rows.flatMap((row) => row.labels)
  const bounded = labels.filter((label) => label.boundary !== null).length
  progress.done(`${formatCount(labels.length)} interactions, ${bounded} of them READY from some checkpoint on`)
}

function isUnchanged(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'unchanged' in data && data.unchanged === true
}

function readSummary(path: string): readonly string[] {
  if (!existsSync(path)) throw new AppError('invariant', `evaluation left no ${path}`)
  const record = JSON.parse(readFileSync(path, 'utf8')) as { summary?: readonly string[] }
  return record.summary ?? []
}
