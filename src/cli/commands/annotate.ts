/**
 * keepready annotate: runs.jsonl -> labels.jsonl.
 */
import { Command, Option } from 'commander'
import type { LabelRow } from '../../../data/annotate/label-record.ts'
import { labelStats, prevalence } from '../../../data/annotate/label-stats.ts'
import { annotateLineage, type LineageOptions, lineageName } from '../../../data/annotate/lineage.ts'
import { matchLabels } from '../../../data/annotate/match-labels.ts'
import { writeLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import { AppError } from '../../errors.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { startProgress } from '../progress.ts'
import { withAction } from '../run-action.ts'

interface AnnotateOptions {
  readonly annotator: string
  readonly restated: LineageOptions['restated']
  readonly anyLiteral: boolean
  readonly out: string
}

/** What can annotate without a language model. */
const ANNOTATORS = ['lineage'] as const

export function createCommand(): Command {
  const command = new Command('annotate')
    .summary('runs.jsonl -> labels.jsonl')
    .description(
      'Says for every interaction of every run from which checkpoint on it is READY: may be replaced by a summary.\n' +
        'The rule (lineage): READY right after the last use of what it brought in; never taken up stays KEEP.',
    )
    .argument('<runs.jsonl>', 'runs as `keepready import` writes them')
    .requiredOption('--out <labels.jsonl>', 'file to write; replaced as a whole when all runs are labelled')
    .option('--annotator <name>', `who labels: ${ANNOTATORS.join(', ')}`, 'lineage')
    .addOption(
      new Option('--restated <how>', 'a later use of what another interaction has restated by then')
        .choices(['veto', 'excuse'])
        .default('veto'),
    )
    .option('--any-literal', 'evidence may be any literal of the interaction, not only one that it introduced', false)
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready annotate runs.jsonl --annotator lineage --out labels.jsonl\n' +
        '  $ keepready labels stats runs.jsonl labels.jsonl\n\nWhat labels mean: docs/labels.md',
    )
  return withAction<AnnotateOptions>(command, annotate)
}

async function annotate(
  context: CommandContext,
  options: AnnotateOptions,
  [runsPath = '']: readonly string[],
): Promise<CommandResult> {
  if (!ANNOTATORS.some((name) => name === options.annotator))
    throw new AppError(
      'option-invalid',
      `--annotator ${options.annotator} is not known; choose one of: ${ANNOTATORS.join(', ')}`,
    )
  const lineage: LineageOptions = { restated: options.restated, anyLiteral: options.anyLiteral }
  const trajectories = await readRuns(runsPath)
  const progress = startProgress(context, { stage: 'annotate', total: trajectories.length, unit: 'runs' })
  const rows: LabelRow[] = []
  for (const trajectory of trajectories) {
    rows.push(annotateLineage(trajectory, lineage))
    progress.update(rows.length)
    // Lets Ctrl-C through: annotating a run is one synchronous pass.
    await new Promise((resolve) => setImmediate(resolve))
    context.signal.throwIfAborted()
  }
  await writeLabels(options.out, rows)
  const stats = labelStats(matchLabels(trajectories, rows))
  const ready = `${stats.all.pairs.toLocaleString('en-US')} pairs, ${(100 * prevalence(stats.all)).toFixed(1)} % READY`
  progress.done(`${rows.length} runs, ${ready}`)
  return {
    data: { annotator: lineageName(lineage), out: options.out, runs: rows.length, ...stats.all },
    text: `wrote ${options.out}: ${rows.length} runs, ${ready}; look at it with: keepready labels stats ${runsPath} ${options.out}`,
  }
}
