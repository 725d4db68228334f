/**
 * keepready labels: looks at labels, and lets a person correct them. One file a subcommand.
 */
import { Command } from 'commander'
import { createAgreement } from './labels-agreement.ts'
import { createCard } from './labels-card.ts'
import { createEdit } from './labels-edit.ts'
import { createShow } from './labels-show.ts'
import { createStats } from './labels-stats.ts'

export function createCommand(): Command {
  return new Command('labels')
    .summary('look at labels, correct them, compare two files of them')
    .description('Looks at labels, lets a person correct them, and compares two files of them.')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready labels stats runs.jsonl labels.jsonl\n' +
        '  $ keepready labels show RUN --runs runs.jsonl --labels labels.jsonl\n' +
        '  $ keepready labels edit labels.jsonl --corrections fixes.jsonl --runs runs.jsonl --out labels-2.jsonl\n' +
        '  $ keepready labels agreement labels.jsonl labels-2.jsonl --runs runs.jsonl\n\n' +
        'What labels mean: docs/labels.md',
    )
    .addCommand(createStats())
    .addCommand(createCard())
    .addCommand(createShow())
    .addCommand(createEdit())
    .addCommand(createAgreement())
}
