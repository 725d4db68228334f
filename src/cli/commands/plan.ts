/** keepready plan: which spans of one history would be replaced; a dry run. */
import { Command } from 'commander'
import { planToWire } from '../../../server/wire/to-wire.ts'
import { callHistoryService, type HistoryOptions, withPlanOptions } from '../history-call.ts'
import { withAction } from '../run-action.ts'
import { renderPlanTable } from '../score-table.ts'

export function createCommand(): Command {
  const command = withPlanOptions(
    new Command('plan')
      .summary('which spans of one history would be replaced')
      .description(
        "A dry run: the READY spans of a history, each gate's verdict with its number, tokens before and after.",
      ),
  ).addHelpText(
    'after',
    '\nExample:\n  $ keepready plan history.json --format openai-chat --router router/ --operating-point f1',
  )
  return withAction<HistoryOptions>(command, async (context, options, [path = '-']) => {
    const plan = await callHistoryService({
      context,
      options,
      path,
      use: async (service, { text, request, context: call }) => planToWire(await service.plan(text, request, call)),
    })
    for (const change of plan.changes ?? []) context.writeErr(`repaired ${change.pointer}: ${change.sentence}\n`)
    for (const warning of plan.warnings) context.writeErr(`warning: ${warning}\n`)
    return { data: plan, text: renderPlanTable(plan) }
  })
}
