/**
 * keepready labels card: the data card of labels, as Markdown with an SVG beside it.
 */
import { basename } from 'node:path'
import { Command } from 'commander'
import { labelCurves } from '../../../data/annotate/label-curves.ts'
import { matchLabels } from '../../../data/annotate/match-labels.ts'
import { compactionAgreement, mistakeAgreement, writeAgreement } from '../../../data/annotate/weak-labels.ts'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'
import { readLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import { AppError } from '../../errors.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { type LabelCard, labelCardMarkdown, replaceCard } from '../label-card.ts'
import { readText } from '../read-text.ts'
import { withAction } from '../run-action.ts'

interface CardFlags {
  readonly into?: string
}

export function createCard(): Command {
  const command = new Command('card')
    .summary('prevalence, curves and agreement with weak labels, per source')
    .description(
      'Prints the data card of labels as Markdown: prevalence per source, READY by age, place and length, and agreement ' +
        'with what the logs themselves say (compactions, mistake steps, calls that write). With --into the card replaces ' +
        'the text between the two marks of a document, and its figure is written beside it.',
    )
    .argument('<runs.jsonl>', 'runs as `keepready import` writes them')
    .argument('<labels.jsonl>', 'labels as `keepready annotate` writes them')
    .option('--into <document.md>', 'document with the lines <!-- card:begin ... --> and <!-- card:end -->')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready labels card runs.jsonl labels.jsonl --into docs/labels.md\n\nHow to read it: docs/labels.md',
    )
  return withAction<CardFlags>(command, makeCard)
}

async function makeCard(
  _context: CommandContext,
  flags: CardFlags,
  [runsPath = '', labelsPath = '']: readonly string[],
): Promise<CommandResult> {
  const labelled = matchLabels(await readRuns(runsPath), await readLabels(labelsPath))
  const card: LabelCard = {
    annotators: [...new Set(labelled.map(({ row }) => row.annotator))],
    curves: labelCurves(labelled),
    compactions: compactionAgreement(labelled),
    mistakes: mistakeAgreement(labelled),
    writes: writeAgreement(labelled),
  }
  if (flags.into === undefined) return { data: card, text: labelCardMarkdown(card, 'labels-card.svg') }
  const figure = `${flags.into.replace(/\.md$/, '')}-card.svg`
  const replaced = replaceCard(readText(flags.into), labelCardMarkdown(card, basename(figure)))
  if (replaced === null)
    throw new AppError(
      'option-invalid',
      `${flags.into} has no place for the card: put the lines <!-- card:begin, made by \`keepready labels card\`: ` +
        'do not edit between these two lines --> and <!-- card:end --> where it should stand',
    )
  // The plot library takes a while to load, and is needed here alone.
  const { labelCurvesFigure } = await import('../../../training/report/label-curves-figure.ts')
  await writeTextWhole(nodeFiles, figure, labelCurvesFigure(card.curves))
  await writeTextWhole(nodeFiles, flags.into, replaced)
  return { data: card, text: `wrote the card into ${flags.into}, its figure to ${figure}` }
}
