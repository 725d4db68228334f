/** keepready models verify: whether the files of a checkpoint are what they should be. */
import { Command } from 'commander'
import { type VerifiedCheckpoint, verifyCheckpoint } from '../../../models/verify-checkpoint.ts'
import { AppError } from '../../errors.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { findModel } from '../find-model.ts'
import { formatBytes } from '../format-bytes.ts'
import { startProgress } from '../progress.ts'
import { withAction } from '../run-action.ts'

/** A damaged file of one model rarely has more to say. */
const SHOWN_FINDINGS = 5

export function createVerify(): Command {
  const command = new Command('verify')
    .summary('check the files of a model')
    .description(
      'Checks tensors against config.json, the tokenizer against the vocabulary, that every weight is a finite number, ' +
        'and the checksum of every file that came from the hub. Reads all of it.',
    )
    .argument('<model>', 'a directory, ORGANISATION/NAME that was pulled, a .gguf file, or tiny')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready models verify tiny\n\nExit code 3: something is wrong with the files.',
    )
  return withAction<object>(command, async (context, _, [model = '']) => runVerify(context, model))
}

async function runVerify(context: CommandContext, model: string): Promise<CommandResult> {
  const directory = await findModel(model, context)
  const progress = startProgress(context, { stage: 'verify', total: null, unit: 'MB' })
  const result = verifyCheckpoint(directory, {
    signal: context.signal,
    onBytes: (bytes) => progress.update(bytes / 1e6),
  })
  progress.done(`${formatBytes(result.bytes)} of weights read`)
  const [first] = result.findings
  if (first !== undefined) {
    const messages = result.findings.map((finding) => finding.message)
    const more = messages.length > SHOWN_FINDINGS ? `\n  and ${messages.length - SHOWN_FINDINGS} more` : ''
    throw new AppError(
      first.code,
      messages.length === 1
        ? first.message
        : `${messages.length} things are wrong:\n  ${messages.slice(0, SHOWN_FINDINGS).join('\n  ')}${more}`,
      { details: { directory, findings: messages } },
    )
  }
  return { data: result, text: describe(result) }
}

function describe(result: VerifiedCheckpoint): string {
  const checksums =
    result.hashedFiles > 0
      ? `, ${result.hashedFiles} files have the checksum that the hub gave them`
      : ' (no checksums are known: it is not in a hub cache)'
  return `${result.directory}: ${result.architecture}, ${result.tensors} tensors in ${result.files} ${result.files === 1 ? 'file' : 'files'} fit config.json and are finite${checksums}`
}
