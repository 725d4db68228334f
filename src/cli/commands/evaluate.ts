/**
 * keepready evaluate: dataset + router -> metrics.json and one self-contained HTML report.
 */
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'
import { readDataset, readDatasetTrajectories } from '../../../data/store/read-dataset.ts'
import { evaluate } from '../../../training/evaluate.ts'
import type { EvaluationRecord } from '../../../training/evaluation/evaluation-record.ts'
import { formatEstimate, formatValue } from '../../../training/evaluation/format-estimate.ts'
import { readRouterPredictions } from '../../../training/evaluation/router-predictions.ts'
import { renderReport } from '../../../training/report/render-report.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { startProgress } from '../progress.ts'
import { readStudies } from '../read-studies.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'
import { bootstrapOption } from '../training-options.ts'
import { parseInteger } from '../value-lists.ts'
import { REPORT_FILE, writeReport } from '../write-report.ts'

export interface EvaluateCommandOptions {
  readonly router: string
  readonly out: string
  readonly bootstrap: number
  readonly seed: number
  /** Absent where another command calls this one. */
  readonly study?: readonly string[]
}

export const METRICS_FILE = 'metrics.json'

export function createCommand(): Command {
  const command = new Command('evaluate')
    .summary('dataset + router -> metrics.json and an HTML report')
    .description(
      "Measures the router's held-out predictions beside every baseline, over grouped rotations, with bootstrap intervals.",
    )
    .argument('<dataset>', 'directory that keepready extract wrote')
    .requiredOption('--router <directory>', 'router artefact that keepready train made from this dataset')
    .requiredOption('--out <directory>', `where ${METRICS_FILE} and ${REPORT_FILE} go`)
    .addOption(bootstrapOption('resamples of groups per rotation'))
    .addOption(
      new Option('--seed <number>', 'of the bootstrap and the random baseline').argParser(parseInteger).default(1),
    )
    .option('--study <directory>', 'study to draw in the report too; repeat for more', collect, [])
    .addHelpText(
      'after',
      '\nExamples:\n  $ keepready evaluate dataset/ --router router/ --out report/\n  $ keepready evaluate dataset/ --router router/ --study study/ --out report/',
    )
  return withAction<EvaluateCommandOptions>(command, runEvaluate)
}

export async function runEvaluate(
  context: CommandContext,
  options: EvaluateCommandOptions,
  args: readonly string[],
): Promise<CommandResult> {
  const directory = args[0] ?? ''
  const dataset = await readDataset(directory)
  const { manifest, parts, predictions, rotationModel } = readRouterPredictions(options.router, dataset)
  const studies = await readStudies(options.study ?? [], dataset)
  const trajectories = await readDatasetTrajectories(directory)
  let progress: ReturnType<typeof startProgress> | null = null
  const record = await evaluate(
    {
      dataset,
      trajectories,
      parts,
      router: { directory: options.router, served: manifest.spec.inputs },
      predictions,
      rotationModel,
      seed: options.seed,
      resamples: options.bootstrap,
    },
    {
      signal: context.signal,
      onProgress(done, total, what) {
        progress ??= startProgress(context, { stage: 'evaluate', total, unit: 'scores' })
        progress.update(done, what)
      },
    },
  )
  const files = {
    metrics: join(options.out, METRICS_FILE),
    report: await writeReport(options.out, renderReport(record, studies)),
  }
  await writeTextWhole(nodeFiles, files.metrics, `${JSON.stringify(record)}\n`)
  const finished = progress as ReturnType<typeof startProgress> | null
  finished?.done(
    `${record.predictors.length} scores on ${record.counts.all.pairs.toLocaleString('en-US')} held-out pairs -> ${files.report}`,
  )
  return {
    data: {
      summary: record.summary,
      caveats: record.caveats,
      counts: record.counts,
      headline: headlineOf(record),
      comparisons: record.comparisons.filter((one) => one.scope === 'all'),
      files,
    },
    text: cardText(record, files),
  }
}

/** Headline metrics of each score over all test runs. */
export function headlineOf(record: EvaluationRecord) {
  return record.predictors.map(({ name, kind, subsets }) => {
    const metrics = subsets.headline.scopes.find((scope) => scope.kind === 'all')?.metrics
    return {
      name,
      kind,
      withinAuroc: metrics?.withinAuroc,
      auroc: metrics?.auroc,
      averagePrecision: metrics?.averagePrecision,
      lift: metrics?.lift,
    }
  })
}

function cardText(record: EvaluationRecord, files: { readonly metrics: string; readonly report: string }): string {
  const table = createResultTable(['score', 'within-run AUROC', 'AUROC', 'PR-AUC', '>lift', 'served input'])
  const { served } = record.router
  for (const { name, kind, withinAuroc, auroc, averagePrecision, lift } of headlineOf(record)) {
    const verdict = record.comparisons.find(
      (one) => one.a === served && one.b === name && one.scope === 'all' && one.metric === 'withinAuroc',
    )?.verdict
    table.push([
      kind === 'router' ? `* ${name}` : name,
      withinAuroc === undefined ? '-' : formatEstimate(withinAuroc),
      auroc === undefined ? '-' : formatEstimate(auroc),
      averagePrecision === undefined ? '-' : formatEstimate(averagePrecision),
      formatValue(lift?.value ?? null, 2),
      name === served ? '(this one)' : verdict === undefined ? '' : VERDICT[verdict],
    ])
  }
  return [
    'Headline pairs, means over rotations, each run counting once, 95 % intervals by bootstrap over groups (* = router):',
    table.toString(),
    ...record.summary,
    record.caveats[0] ?? '',
    `Written: ${files.report} ${files.metrics}`,
    `Next: open ${files.report}, or keepready serve --router ${record.router.directory}`,
  ].join('\n')
}

const VERDICT = {
  beats: 'beats it',
  'is-worse': 'is worse',
  'no-difference-shown': 'does not beat it',
  'cannot-tell': 'cannot tell',
} as const

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}
