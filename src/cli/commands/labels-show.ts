/**
 * keepready labels show: one labelled run as a timeline, or one interaction of it in detail.
 */
import { Command } from 'commander'
import { matchLabels } from '../../../data/annotate/match-labels.ts'
import { readLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import { AppError } from '../../errors.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { findRun } from '../find-run.ts'
import { withAction } from '../run-action.ts'
import { wholeNumber } from '../whole-number.ts'

interface ShowFlags {
  readonly runs: string
  readonly labels: string
  readonly interaction?: string
  readonly width?: string
}

/** Where the output is no terminal, and so has no width of its own. */
const DEFAULT_WIDTH = 100
/** Narrower lines cannot hold the columns. */
const LEAST_WIDTH = 60

export function createShow(): Command {
  const command = new Command('show')
    .summary('one run as a timeline: boundaries, evidence, vetoes')
    .description(
      'Prints one row for each interaction: who acted, its size, its life across checkpoints as a bar from where it was ' +
        'made to where it becomes READY, and the quotes that support this. Read it before you trust or correct labels.',
    )
    .argument('<run>', 'id of the run, or enough of it to be the only one')
    .requiredOption('--runs <runs.jsonl>', 'runs as `keepready import` writes them')
    .requiredOption('--labels <labels.jsonl>', 'labels as `keepready annotate` writes them')
    .option('--interaction <i>', 'this interaction in detail, each quote with the text around it')
    .option('--width <columns>', 'columns to use instead of those of the terminal (at least 60)')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready labels show claude-code/1a2b --runs runs.jsonl --labels labels.jsonl\n' +
        '  $ keepready labels show claude-code/1a2b --runs runs.jsonl --labels labels.jsonl --interaction 12\n\n' +
        'What labels mean, and how to correct them: docs/labels.md',
    )
  return withAction<ShowFlags>(command, show)
}

async function show(
  _context: CommandContext,
  flags: ShowFlags,
  [wanted = '']: readonly string[],
): Promise<CommandResult> {
  const width = flags.width === undefined ? terminalWidth() : wholeNumber('--width', flags.width, LEAST_WIDTH)
  const run = findRun(await readRuns(flags.runs), wanted)
  const rows = (await readLabels(flags.labels)).filter((row) => row.trajectory === run.id)
  const [matched] = matchLabels([run], rows)
  if (matched === undefined)
    throw new AppError(
      'labels-mismatch',
      `${flags.labels} has no labels for run ${run.id}: make them with \`keepready annotate ${flags.runs}\``,
      { details: { trajectory: run.id } },
    )
  const { row } = matched
  const look = { width, colour: process.stdout.isTTY === true }
  // The tokenizer's tables take a while to load, and `labels` has commands that count no tokens.
  const { timelineEntries, timelineText } = await import('../label-timeline.ts')
  if (flags.interaction === undefined) {
    const { id, group, domain, truncated, task } = run
    return {
      data: {
        run: { id, group, domain, truncated, task, interactions: run.interactions.length },
        annotator: row.annotator,
        entries: timelineEntries(run, row),
      },
      text: `${timelineText(run, row, look)}\n`,
    }
  }
  const index = wholeNumber('--interaction', flags.interaction, 0)
  const interaction = run.interactions.find((candidate) => candidate.index === index)
  if (interaction === undefined)
    throw new AppError(
      'option-invalid',
      `--interaction ${index}: run ${run.id} has the interactions 0 to ${run.interactions.length - 1}`,
      { details: { flag: '--interaction', value: index } },
    )
  const { detailText, findQuote } = await import('../label-detail.ts')
  const label = row.labels.find((candidate) => candidate.interaction === index) ?? null
  return {
    data: {
      run: run.id,
      annotator: row.annotator,
      interaction,
      label,
      quotes: (label?.evidence ?? []).map((item) => {
        const at = run.interactions.find((candidate) => candidate.index === item.interaction)
        return { ...item, context: at === undefined ? null : findQuote(at, item.quote, width) }
      }),
    },
    text: detailText(run, interaction, label, look),
  }
}

function terminalWidth(): number {
  return Math.max(LEAST_WIDTH, process.stdout.columns ?? DEFAULT_WIDTH)
}
