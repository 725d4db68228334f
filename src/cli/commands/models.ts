/**
 * keepready models: gets models, looks at them, checks them, converts them. One file a subcommand.
 */
import { Command } from 'commander'
import { createConvert } from './models-convert.ts'
import { createInfo } from './models-info.ts'
import { createLs } from './models-ls.ts'
import { createPull } from './models-pull.ts'
import { createVerify } from './models-verify.ts'

export function createCommand(): Command {
  return new Command('models')
    .summary('get models, look at them, check them')
    .description(
      'Gets models of the Hugging Face hub, looks at them and checks them. Only `pull` uses the network: no other ' +
        'command downloads anything.',
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready models pull HuggingFaceTB/SmolLM2-135M-Instruct\n' +
        '  $ keepready models ls\n' +
        '  $ keepready models info HuggingFaceTB/SmolLM2-135M-Instruct --probe\n' +
        '  $ keepready models verify HuggingFaceTB/SmolLM2-135M-Instruct\n' +
        '  $ keepready models convert model.Q4_K_M.gguf --out model/\n\n' +
        'Which checkpoints can be read: docs/checkpoints.md',
    )
    .addCommand(createPull())
    .addCommand(createLs())
    .addCommand(createInfo())
    .addCommand(createVerify())
    .addCommand(createConvert())
}
