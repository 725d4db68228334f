/**
 * keepready labels edit: labels + a reviewer's corrections -> labels. All corrections or none.
 */
import { resolve } from 'node:path'
import { Command } from 'commander'
import {
  type AppliedCorrection,
  applyCorrections,
  type CorrectionProblem,
} from '../../../data/annotate/apply-corrections.ts'
import { readCorrections } from '../../../data/store/corrections.ts'
import { readLabels, writeLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import { AppError } from '../../errors.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'

interface EditFlags {
  readonly corrections: string
  readonly runs: string
  readonly out: string
}

const SHOWN_PROBLEMS = 20

export function createEdit(): Command {
  const command = new Command('edit')
    .summary("apply a reviewer's corrections")
    .description(
      'Applies a corrections file to labels. Each line is checked against its run: indices, boundary, quotes that must ' +
        'stand there word for word. If one line is wrong, all wrong lines are named and nothing is written. ' +
        'Corrected rows carry the reviewers in their annotator; the verdict before stands in the new reason.',
    )
    .argument('<labels.jsonl>', 'labels to correct; this file is left as it is')
    .requiredOption('--corrections <file>', 'one JSON object a line, see below')
    .requiredOption('--runs <runs.jsonl>', 'the runs that the labels were made from')
    .requiredOption('--out <labels.jsonl>', 'file to write')
    .addHelpText(
      'after',
      '\nA correction (evidence may be left out: the old items that still hold are kept; null is KEEP everywhere):\n' +
        '  {"run":"RUN","interaction":3,"boundary":9,"reason":"last used at 8","reviewer":"ann",\n' +
        '   "evidence":[{"kind":"uptake","interaction":8,"quote":"words of interaction 8"}]}\n' +
        '\nExample:\n  $ keepready labels edit labels.jsonl --corrections fixes.jsonl --runs runs.jsonl --out labels-2.jsonl\n\n' +
        'More about it: docs/labels.md',
    )
  return withAction<EditFlags>(command, edit)
}

async function edit(
  _context: CommandContext,
  flags: EditFlags,
  [labelsPath = '']: readonly string[],
): Promise<CommandResult> {
  if (resolve(flags.out) === resolve(labelsPath))
    throw new AppError(
      'option-invalid',
      `--out ${flags.out} is the labels file itself: give another file, so that the labels before the review are kept`,
    )
  const { corrections, problems } = await readCorrections(flags.corrections)
  if (corrections.length === 0 && problems.length === 0)
    throw new AppError('rows-invalid', `${flags.corrections} holds no correction: write one JSON object a line`)
  const rows = await readLabels(labelsPath)
  const result = applyCorrections({ runs: await readRuns(flags.runs), rows, corrections })
  if (problems.length > 0 || !result.ok)
    throw refused(flags.corrections, [...problems, ...(result.ok ? [] : result.problems)])
  await writeLabels(flags.out, result.rows)
  return {
    data: { out: flags.out, rows: result.rows.length, applied: result.applied },
    text: describe(result.applied, flags.out),
  }
}

function refused(path: string, problems: readonly CorrectionProblem[]): AppError {
  const byLine = [...problems].sort((a, b) => a.line - b.line)
  const lines = byLine.map(({ line, reason }) => `line ${line}: ${reason}`)
  const more = lines.length > SHOWN_PROBLEMS ? `\n  and ${lines.length - SHOWN_PROBLEMS} more` : ''
  return new AppError(
    'rows-invalid',
    `${path}: ${lines.length} problem(s), nothing was written; correct these lines and run the command again:\n` +
      `  ${lines.slice(0, SHOWN_PROBLEMS).join('\n  ')}${more}`,
    { details: { path, problems: lines } },
  )
}

function describe(applied: readonly AppliedCorrection[], out: string): string {
  const table = createResultTable(['>line', 'run', '>interaction', 'before', 'after'])
  for (const { line, run, interaction, before, after } of applied)
    table.push([line, run, interaction, verdictOf(before.boundary), verdictOf(after.boundary)])
  const runs = new Set(applied.map(({ run }) => run)).size
  return `${table.toString()}\nwrote ${out}: ${applied.length} corrections in ${runs} runs`
}

function verdictOf(boundary: number | null): string {
  return boundary === null ? 'KEEP' : `READY from ${boundary}`
}
