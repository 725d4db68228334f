/** keepready score: readiness of each interaction of one history. */
import { Command } from 'commander'
import { scoreToWire } from '../../../server/wire/to-wire.ts'
import { callHistoryService, type HistoryOptions, withHistoryOptions } from '../history-call.ts'
import { withAction } from '../run-action.ts'
import { renderScoreTable } from '../score-table.ts'

export function createCommand(): Command {
  const command = withHistoryOptions(
    new Command('score')
      .summary('readiness of each interaction of one history')
      .description(
        'Scores every past interaction of a history: p, margin and the READY decision at an operating point.',
      ),
  ).addHelpText('after', '\nExample:\n  $ keepready score history.json --format anthropic-messages --router router/')
  return withAction<HistoryOptions>(command, async (context, options, [path = '-']) => {
    const score = await callHistoryService({
      context,
      options,
      path,
      use: async (service, { text, request, context: call, representationId }) =>
        scoreToWire(await service.score(text, request, call), representationId),
    })
    for (const warning of score.warnings) context.writeErr(`warning: ${warning}\n`)
    return { data: score, text: renderScoreTable(score) }
  })
}
