/**
 * keepready bench: latency and memory as ratios measured in one run, so that they mean the same on any machine.
 */
import { Command } from 'commander'
import { createExtractBench } from '../bench-extract-command.ts'
import { createImportBench } from '../bench-import-command.ts'

export function createCommand(): Command {
  return new Command('bench')
    .summary('latency and memory of extraction, and speed of import')
    .description(
      'Measures extraction as ratios within one run, and import in MB per second. Without a subcommand: extract.',
    )
    .addHelpText('after', '\nExample:\n  $ keepready bench extract --quick\n  $ keepready bench import')
    .addCommand(createExtractBench(), { isDefault: true })
    .addCommand(createImportBench())
}
