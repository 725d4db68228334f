/**
 * keepready router: checks router artefacts and exports them. One file a subcommand.
 */
import { Command } from 'commander'
import { createExport } from './router-export.ts'
import { createVerify } from './router-verify.ts'

export function createCommand(): Command {
  return new Command('router')
    .summary('check a router artefact, export it')
    .description('Works on the directory that keepready train wrote. To look at one: keepready inspect ROUTER.')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready router verify router/\n' +
        '  $ keepready router verify router/ --dataset dataset/\n' +
        '  $ keepready router export router/ --onnx router.onnx --operating-point f1\n\n' +
        'What is in an artefact: docs/router-artefact.md',
    )
    .addCommand(createVerify())
    .addCommand(createExport())
}
