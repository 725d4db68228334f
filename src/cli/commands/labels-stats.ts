/**
 * keepready labels stats: pairs, prevalence, ages, boundaries.
 */
import { Command } from 'commander'
import { labelStats } from '../../../data/annotate/label-stats.ts'
import { labelStatsText } from '../../../data/annotate/label-stats-text.ts'
import { matchLabels } from '../../../data/annotate/match-labels.ts'
import { readLabels } from '../../../data/store/labels.ts'
import { readRuns } from '../../../data/store/runs.ts'
import type { CommandResult } from '../command-context.ts'
import { withAction } from '../run-action.ts'

export function createStats(): Command {
  const command = new Command('stats')
    .summary('pairs, prevalence by domain and age, boundary histogram')
    .description(
      'Counts pairs (interaction, checkpoint) with checkpoints 2 .. N-1; the newest interaction is never a target.\n' +
        'Near the end of a run little future is left to veto: pairs with 5 or more interactions to come stand beside.',
    )
    .argument('<runs.jsonl>', 'runs as `keepready import` writes them')
    .argument('<labels.jsonl>', 'labels as `keepready annotate` writes them')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready labels stats runs.jsonl labels.jsonl\n\nWhat labels mean: docs/labels.md',
    )
  return withAction(command, printStats)
}

async function printStats(
  _context: unknown,
  _options: object,
  [runsPath = '', labelsPath = '']: readonly string[],
): Promise<CommandResult> {
  const stats = labelStats(matchLabels(await readRuns(runsPath), await readLabels(labelsPath)))
  return { data: stats, text: labelStatsText(stats) }
}
