/** keepready router verify: whether an artefact is what train wrote and still computes what the trainer computed. */
import { Command } from 'commander'
import { readDataset } from '../../../data/store/read-dataset.ts'
import { type VerifiedRouter, verifyRouter } from '../../../models/router/verify-router.ts'
import { type DatasetCheck, verifyAgainstDataset } from '../../../training/verify-against-dataset.ts'
import { AppError } from '../../errors.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'

/** One damaged file rarely has more to say. */
const SHOWN_FINDINGS = 5

export interface RouterVerifyOptions {
  readonly dataset?: string
}

export function createVerify(): Command {
  const command = new Command('verify')
    .summary('check the files of a router and recompute its probe rows')
    .description(
      'Checks every hash of the artefact, that no rotation is tested on a group it trained or validated on, and that each ' +
        'way of computing a logit (dense scorer, scorer with kept projections, plain float64 loops) gives what the trainer ' +
        'computed for the stored probe rows. With the dataset also that held-out predictions are what the parameters give.',
    )
    .argument('<router>', 'directory that keepready train wrote')
    .option('--dataset <directory>', 'the dataset it was trained on')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready router verify router/ --dataset dataset/\n\nExit code 3: something is wrong with the files.',
    )
  return withAction<RouterVerifyOptions>(command, runRouterVerify)
}

export async function runRouterVerify(
  context: CommandContext,
  options: RouterVerifyOptions,
  [directory = '']: readonly string[],
): Promise<CommandResult> {
  const result = await verifyRouter(directory)
  requireSound(directory, result.findings)
  context.signal.throwIfAborted()
  const check =
    options.dataset === undefined ? null : verifyAgainstDataset(directory, await readDataset(options.dataset))
  requireSound(directory, check?.findings ?? [])
  return { data: { ...result, dataset: check }, text: describe(result, check) }
}

/** @throws router-invalid with what was found */
function requireSound(directory: string, findings: readonly string[]): void {
  if (findings.length === 0) return
  const more = findings.length > SHOWN_FINDINGS ? `\n  and ${findings.length - SHOWN_FINDINGS} more` : ''
  throw new AppError(
    'router-invalid',
    findings.length === 1
      ? `${findings[0]}`
      : `${findings.length} things are wrong with ${directory}:\n  ${findings.slice(0, SHOWN_FINDINGS).join('\n  ')}${more}`,
    { details: { directory, findings } },
  )
}

function describe(result: VerifiedRouter, check: DatasetCheck | null): string {
  const { directory, hashedFiles, rotations, schemaVersion, parity } = result
  const table = createResultTable(['computed by', '>largest relative difference', '>at probe row'])
  for (const { by, relative, row } of parity?.differences ?? []) table.push([by, relative.toExponential(1), row])
  const made = 'made-up inputs, since schema version 1 has no probe rows; float64 is what the others are compared with'
  return [
    `${directory}: schema version ${schemaVersion}, ${rotations} rotations, ${hashedFiles} files have the SHA-256 they should have`,
    ...(parity === null
      ? []
      : [
          `parity on ${parity.rows} probe rows (${parity.source === 'stored' ? 'expected: logits of the trainer' : made}), limit ${parity.tolerance}:`,
          table.toString(),
        ]),
    ...(check === null
      ? []
      : [
          `${check.dataset}: ${check.testPairs.toLocaleString('en-US')} held-out predictions, all of groups that their rotation never trained or validated on; ` +
            `${check.recomputed} computed again, largest relative difference ${check.largestDifference.toExponential(1)}`,
        ]),
  ].join('\n')
}
