/**
 * `keepready validate history.json --format F`: one history against the named rules of its provider.
 */
import { Command, Option } from 'commander'
import { FORMATS } from '../../protocol/formats.ts'
import { HISTORY_FORMATS, type HistoryFormat, type Violation } from '../../protocol/history.ts'
import { parseHistory } from '../../protocol/parse-history.ts'
import { blockingViolations, validateHistory } from '../../protocol/validate-history.ts'
import type { CommandResult } from '../command-context.ts'
import { readText } from '../read-text.ts'
import { withAction } from '../run-action.ts'

interface ValidateOptions {
  readonly format: HistoryFormat
}

export function createCommand(): Command {
  const command = new Command('validate')
    .summary("one history against its provider's rules")
    .description(
      'Checks a message list, or a request body with `messages`, against the rules whose violation makes its provider\n' +
        'reject the request. Exit code: 0 valid, 1 violations (listed with JSON pointers), 2 not a history of the format.',
    )
    .argument('<history>', 'JSON file, or - for stdin')
    .addOption(
      new Option('--format <name>', 'provider format of the file').choices(HISTORY_FORMATS).makeOptionMandatory(),
    )
    .addHelpText('after', '\nExample:\n  $ keepready validate history.json --format anthropic-messages')
  return withAction<ValidateOptions>(command, async (_, options, [path = '-']) => report(path, options.format))
}

function report(path: string, format: HistoryFormat): CommandResult {
  const history = parseHistory(readText(path), format)
  const violations = validateHistory(history)
  const valid = violations.length === 0
  const head = `${path}: ${history.messages.length} messages, ${format}, ${
    valid ? 'valid' : `${violations.length} violations, ${blockingViolations(violations).length} of them blocking`
  }`
  return {
    data: { format, messages: history.messages.length, valid, violations },
    text: [head, ...violations.map((violation) => line(format, violation))].join('\n'),
    partial: !valid,
  }
}

function line(format: HistoryFormat, violation: Violation): string {
  const rule = FORMATS[format].rules.find((candidate) => candidate.id === violation.rule)
  const weight = violation.advisory === true ? ' (advisory)' : ''
  return `${violation.rule}${weight} ${violation.pointer}: ${violation.message}. Rule: ${rule?.sentence ?? ''}`
}
