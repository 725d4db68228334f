/** keepready convert: one history in the format of another provider. */
import { Command, Option } from 'commander'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'
import { convertHistory } from '../../protocol/convert/convert-history.ts'
import { FORMATS } from '../../protocol/formats.ts'
import { HISTORY_FORMATS, type HistoryFormat } from '../../protocol/history.ts'
import { parseHistory } from '../../protocol/parse-history.ts'
import { renderBody } from '../../protocol/replace-list.ts'
import { blockingViolations, validateHistory } from '../../protocol/validate-history.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { readText } from '../read-text.ts'
import { withAction } from '../run-action.ts'

interface ConvertOptions {
  readonly from: HistoryFormat
  readonly to: HistoryFormat
  readonly out?: string
}

export function createCommand(): Command {
  const formatOption = (flags: string, what: string): Option =>
    new Option(flags, what).choices(HISTORY_FORMATS).makeOptionMandatory()
  const command = new Command('convert')
    .summary("one history in another provider's format")
    .description(
      'Writes a request body of the other format: system prompt, words, calls, results and media, in order, with tool-call\n' +
        'ids that the other provider takes. What it has no words for is listed: reasoning is bound to its provider, and so\n' +
        'are the tools that it runs itself. The same format gives the same bytes. Exit code 1: the new history\n' +
        'breaks a rule that no repair can mend, such as a history without a turn of the user.',
    )
    .argument('<history>', 'JSON file with a message list or a request body, or - for stdin')
    .addOption(formatOption('--from <name>', 'format of the file'))
    .addOption(formatOption('--to <name>', 'format to write'))
    .option('--out <file>', 'file to write (default: stdout)')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready convert history.json --from openai-chat --to anthropic-messages --out request.json',
    )
  return withAction<ConvertOptions>(command, (context, options, [path = '-']) => convert(context, options, path))
}

async function convert(
  context: CommandContext,
  { from, to, out }: ConvertOptions,
  path: string,
): Promise<CommandResult> {
  const text = readText(path)
  const { history, losses } = convertHistory(parseHistory(text, from), to)
  const body = from === to ? text : renderBody(history, FORMATS[to].systemField)
  const violations = validateHistory(history)
  const invalid = blockingViolations(violations)
  if (out !== undefined) await writeTextWhole(nodeFiles, out, body)
  const lines = [
    `${path}: ${history.messages.length} ${FORMATS[to].noun} of ${to}`,
    ...losses.map((loss) => `not carried over as it was: ${loss}`),
    ...invalid.map(({ rule, pointer, message }) => `${rule} ${pointer}: ${message}`),
  ]
  if (out === undefined) context.writeErr(`${lines.join('\n')}\n`)
  const data = { from, to, out: out ?? null, messages: history.messages.length, losses, violations }
  return {
    data,
    ...(out === undefined ? { rawJson: `${JSON.stringify(data).slice(0, -1)},"body":${body}}` } : {}),
    text: out === undefined ? body : [...lines, `written to ${out}`].join('\n'),
    partial: invalid.length > 0,
  }
}
