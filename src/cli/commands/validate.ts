/**
 * `keepready validate history.json --format F`: one history against the named rules of its provider.
 */
import { Command, Option } from 'commander'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'
import { repairToJson } from '../../../server/wire/to-wire.ts'
import { AppError } from '../../errors.ts'
import { FORMATS } from '../../protocol/formats.ts'
import { HISTORY_FORMATS, type History, type HistoryFormat, type Violation } from '../../protocol/history.ts'
import { parseHistory } from '../../protocol/parse-history.ts'
import { repairHistory } from '../../protocol/repair/repair-history.ts'
import { replaceList } from '../../protocol/replace-list.ts'
import { blockingViolations, validateHistory } from '../../protocol/validate-history.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { danglingOption } from '../history-call.ts'
import { readText } from '../read-text.ts'
import { withAction } from '../run-action.ts'

interface ValidateOptions {
  readonly format: HistoryFormat
  readonly fix?: boolean
  readonly out?: string
  readonly dangling: 'drop' | 'close'
}

export function createCommand(): Command {
  const command = new Command('validate')
    .summary("one history against its provider's rules")
    .description(
      'Checks a message list, or a request body that holds one, against the rules whose violation makes its provider\n' +
        'reject the request (docs/protocol-rules.md). Exit code: 0 valid, 1 violations (listed with JSON pointers), 2 not a\n' +
        'history of the format. With --fix the smallest safe repair is written, and 1 means that something remains invalid:\n' +
        'calls that were never answered go or are closed, results go behind their calls, what is empty goes, ids are renamed.\n' +
        'The words of the user stay as they are; nothing is made up.',
    )
    .argument('<history>', 'JSON file, or - for stdin')
    .addOption(
      new Option('--format <name>', 'provider format of the file').choices(HISTORY_FORMATS).makeOptionMandatory(),
    )
    .option('--fix', 'write the repaired history, on stdout where --out is not given, and list what changed')
    .option('--out <file>', 'file for the repaired history (with --fix)')
    .addOption(danglingOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ keepready validate history.json --format anthropic-messages\n' +
        '  $ keepready validate history.json --format openai-chat --fix --dangling close --out repaired.json',
    )
  return withAction<ValidateOptions>(command, async (context, options, [path = '-']) => {
    const text = readText(path)
    if (options.fix === true) return fix(context, { ...options, path, text })
    if (options.out !== undefined)
      throw new AppError('option-invalid', '--out is for --fix: add it, or leave --out away')
    return report(path, parseHistory(text, options.format))
  })
}

function report(path: string, history: History): CommandResult {
  const { format } = history
  const violations = validateHistory(history)
  const valid = violations.length === 0
  return {
    data: { format, messages: history.messages.length, valid, violations },
    text: [headLine(path, history, violations), ...violations.map((violation) => line(format, violation))].join('\n'),
    partial: !valid,
  }
}

async function fix(
  context: CommandContext,
  given: ValidateOptions & { readonly path: string; readonly text: string },
): Promise<CommandResult> {
  const { path, text, format } = given
  const history = parseHistory(text, format)
  const violations = validateHistory(history)
  const repair = repairHistory(history, { danglingCalls: given.dangling })
  const left = blockingViolations(repair.remaining)
  const lines = [
    headLine(path, history, violations),
    ...repair.changes.map(({ rule, pointer, sentence }) => `${rule} ${pointer}: ${sentence}`),
    `${repair.changes.length} changes; ${left.length === 0 ? 'valid now' : `${left.length} violations remain`}`,
    ...left.map((violation) => line(format, violation)),
  ]
  const repaired = repair.changes.length === 0 ? text : replaceList(text, repair.history)
  if (given.out !== undefined) await writeTextWhole(nodeFiles, given.out, repaired)
  else context.writeErr(`${lines.join('\n')}\n`)
  return {
    data: null,
    rawJson: repairToJson({ violations, repair }),
    text: given.out === undefined ? repaired : [...lines, `written to ${given.out}`].join('\n'),
    partial: left.length > 0,
  }
}

function headLine(path: string, { messages, format }: History, violations: readonly Violation[]): string {
  const state =
    violations.length === 0
      ? 'valid'
      : `${violations.length} violations, ${blockingViolations(violations).length} of them blocking`
  return `${path}: ${messages.length} messages, ${format}, ${state}`
}

function line(format: HistoryFormat, violation: Violation): string {
  const rule = FORMATS[format].rules.find((candidate) => candidate.id === violation.rule)
  const weight = violation.advisory === true ? ' (advisory)' : ''
  return `${violation.rule}${weight} ${violation.pointer}: ${violation.message}. Rule: ${rule?.sentence ?? ''}`
}
