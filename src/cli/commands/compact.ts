/** keepready compact: one history to a shorter valid one, or the same history and the reason why not. */
import { Command } from 'commander'
import { compactionToJson } from '../../../server/wire/to-wire.ts'
import { renderMessages } from '../../protocol/render-messages.ts'
import { callHistoryService, type HistoryOptions, withPlanOptions } from '../history-call.ts'
import { withAction } from '../run-action.ts'
import { percent } from '../score-table.ts'

export function createCommand(): Command {
  const command = withPlanOptions(
    new Command('compact')
      .summary('one history -> a shorter valid history')
      .description(
        'Replaces READY spans by deterministic offline summaries. Prints the new message list on stdout and the outcome on\nstderr; on any outcome but `applied` the messages are the ones given, byte for byte.',
      ),
  ).addHelpText(
    'after',
    '\nExamples:\n  $ keepready compact history.json --format anthropic-messages --router router/ > shorter.json\n' +
      '  $ keepready compact history.json --format openai-chat --router router/ --repair > shorter.json',
  )
  return withAction<HistoryOptions>(command, async (context, options, [path = '-']) => {
    const result = await callHistoryService({
      context,
      options,
      path,
      use: (service, { text, request, context: call }) => service.compact(text, request, call),
    })
    const { outcome, reason, tokens, messages } = result.compaction
    for (const change of result.changes) context.writeErr(`repaired ${change.pointer}: ${change.sentence}\n`)
    for (const warning of result.warnings) context.writeErr(`warning: ${warning}\n`)
    context.writeErr(
      `outcome: ${outcome}${reason === null ? '' : ` (${reason})`}; tokens ${tokens.before} -> ${tokens.after} (${percent(tokens.before, tokens.after)})\n`,
    )
    return {
      data: null,
      rawJson: compactionToJson(result),
      text: renderMessages(messages),
      partial: outcome === 'rejected' || outcome === 'failed',
    }
  })
}
