/**
 * keepready bench: latency and memory as ratios measured in one run, so that they mean the same on any machine.
 */
import { Command } from 'commander'
import { createQuantizeBench, createWeightsBench } from '../bench-execution-commands.ts'
import { createExtractBench } from '../bench-extract-command.ts'
import { createImportBench } from '../bench-import-command.ts'
import { createTrainBench } from '../bench-train-command.ts'

export function createCommand(): Command {
  return new Command('bench')
    .summary('latency and memory of extraction, speed of training and of import')
    .description(
      'Measures extraction, weights and integer products as ratios within one run, training at the size of the paper, and\nimport in MB per second. Without a subcommand: extract.',
    )
    .addHelpText('after', '\nExample:\n  $ keepready bench extract --quick\n  $ keepready bench import')
    .addCommand(createExtractBench(), { isDefault: true })
    .addCommand(createTrainBench())
    .addCommand(createImportBench())
    .addCommand(createWeightsBench())
    .addCommand(createQuantizeBench())
}
