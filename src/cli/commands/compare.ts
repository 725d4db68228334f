/**
 * keepready compare: two or more evaluated runs -> paired differences on the pairs that all of them hold out.
 */
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'
import { compareRuns } from '../../../training/compare/compare-runs.ts'
import type { ComparedRun } from '../../../training/compare/compared-run.ts'
import type { RunComparison } from '../../../training/compare/comparison-record.ts'
import { headlineDifferences, signedDifference } from '../../../training/compare/comparison-words.ts'
import { renderComparison } from '../../../training/compare/render-comparison.ts'
import { formatEstimate } from '../../../training/evaluation/format-estimate.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { parseRunArguments, readComparedRun } from '../compared-run.ts'
import { startProgress } from '../progress.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'
import { bootstrapOption } from '../training-options.ts'
import { parseInteger } from '../value-lists.ts'
import { REPORT_FILE, writeReport } from '../write-report.ts'

export interface CompareCommandOptions {
  readonly out: string
  readonly bootstrap: number
  readonly seed: number
}

export const COMPARISON_FILE = 'comparison.json'

export function createCommand(): Command {
  const command = new Command('compare')
    .summary('evaluated runs -> paired differences and an HTML page')
    .description(
      'Compares routers on the pairs (run, interaction, checkpoint) that all of them hold out: same groups, same bootstrap draws. The first run is the one the others are measured against.',
    )
    .argument(
      '<runs...>',
      'two or more: [NAME=]REPORT (a folder of keepready evaluate) or [NAME=]DATASET,ROUTER[,INPUTS]',
    )
    .requiredOption('--out <directory>', `where ${COMPARISON_FILE}, ${REPORT_FILE} and figures/ go`)
    .addOption(bootstrapOption('resamples of groups per rotation'))
    .addOption(new Option('--seed <number>', 'of the bootstrap').argParser(parseInteger).default(1))
    .addHelpText(
      'after',
      `
Examples:
  $ keepready compare once=report-once/ shared-first=report-shared/ --out comparison/
  $ keepready compare bounded=ds-once/,router-once/ full=ds-full/,router-full/ --out comparison/
  $ keepready compare hidden=ds/,router/,hidden both=ds/,router/,hidden+evidence --out comparison/

Runs can be compared when their routers were trained with one --seed on datasets of the same runs and labels.`,
    )
  return withAction<CompareCommandOptions>(command, runCompare)
}

export async function runCompare(
  context: CommandContext,
  options: CompareCommandOptions,
  args: readonly string[],
): Promise<CommandResult> {
  const runs: ComparedRun[] = []
  for (const argument of parseRunArguments(args)) {
    runs.push(await readComparedRun(argument))
    context.signal.throwIfAborted()
  }
  let progress: ReturnType<typeof startProgress> | null = null
  const comparison = compareRuns(runs, {
    seed: options.seed,
    resamples: options.bootstrap,
    onProgress(done, total, what) {
      context.signal.throwIfAborted()
      progress ??= startProgress(context, { stage: 'compare', total, unit: 'routers' })
      progress.update(done, what)
    },
  })
  const report = await writeReport(options.out, renderComparison(comparison))
  const files = { comparison: join(options.out, COMPARISON_FILE), report }
  await writeTextWhole(nodeFiles, files.comparison, `${JSON.stringify(comparison)}\n`)
  const finished = progress as ReturnType<typeof startProgress> | null
  finished?.done(`${comparison.matched.pairs.toLocaleString('en-US')} common held-out pairs -> ${report}`)
  return {
    data: {
      summary: comparison.summary,
      caveats: comparison.caveats,
      runs: comparison.runs,
      matched: comparison.matched,
      headline: comparison.kinds.flatMap((kind) =>
        headlineDifferences(kind).map((found) => ({ inputs: kind.inputs, ...found })),
      ),
      files,
    },
    text: cardText(comparison, files),
  }
}

function cardText(comparison: RunComparison, files: { readonly comparison: string; readonly report: string }): string {
  const against = comparison.runs[0]?.name ?? ''
  const table = createResultTable(['inputs', 'run', 'within-run AUROC', 'PR-AUC', `minus ${against}`])
  for (const kind of comparison.kinds)
    for (const { run, scopes } of kind.values) {
      const metrics = scopes.find((one) => one.scope === 'all')?.metrics
      const found = headlineDifferences(kind).find((one) => one.run === run)
      table.push([
        kind.inputs,
        run,
        metrics === undefined ? '-' : formatEstimate(metrics.withinAuroc),
        metrics === undefined ? '-' : formatEstimate(metrics.averagePrecision),
        found === undefined ? '' : signedDifference(found),
      ])
    }
  return [
    'Common held-out headline pairs, means over rotations, 95 % intervals by bootstrap over groups, differences paired:',
    table.toString(),
    ...comparison.summary,
    ...comparison.caveats.slice(2, -1),
    `Written: ${files.report} ${files.comparison}`,
    `Next: open ${files.report}`,
  ].join('\n')
}
