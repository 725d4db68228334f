/** keepready router export: a router as one ONNX inference file. */
import { Command, Option } from 'commander'
import { readRouter } from '../../../models/router/artefact.ts'
import { type ExportedRouter, exportOnnx } from '../../../models/router/export-onnx.ts'
import { OPERATING_POINT_NAMES, type OperatingPointName } from '../../router/operating-points.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { formatBytes } from '../format-bytes.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'

export interface RouterExportOptions {
  readonly onnx: string
  readonly operatingPoint?: OperatingPointName
}

export function createExport(): Command {
  const command = new Command('export')
    .summary('a router as one ONNX file for other runtimes')
    .description(
      'Writes an inference file with the weights inside and what router.json says as metadata. It is kept only if ' +
        'onnxruntime gives the logits of the probe rows. keepready itself never reads it.',
    )
    .argument('<router>', 'directory that keepready train wrote')
    .requiredOption('--onnx <file>', 'file to write')
    .addOption(
      new Option('--operating-point <name>', "threshold of the output `ready` (default: the artefact's)").choices(
        OPERATING_POINT_NAMES,
      ),
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready router export router/ --onnx router.onnx --operating-point f1\n\n' +
        'Its inputs and outputs: docs/router-artefact.md',
    )
  return withAction<RouterExportOptions>(command, runRouterExport)
}

export async function runRouterExport(
  _context: CommandContext,
  options: RouterExportOptions,
  [directory = '']: readonly string[],
): Promise<CommandResult> {
  const exported = await exportOnnx({
    router: readRouter(directory),
    out: options.onnx,
    operatingPoint: options.operatingPoint,
  })
  return { data: exported, text: describe(exported) }
}

function describe({ path, sizeBytes, inputs, outputs, metadata, probe }: ExportedRouter): string {
  const table = createResultTable(['', 'name', 'shape'])
  for (const [name, shape] of Object.entries(inputs)) table.push(['input', name, `(${shape.join(', ')})`])
  for (const [name, shape] of Object.entries(outputs)) table.push(['output', name, `(${shape.join(', ')})`])
  const tau = metadata['keepready.tau']
  return [
    `${path}: ${formatBytes(sizeBytes)}, ready at operating point ${metadata['keepready.operating_point']} (${tau === 'null' ? 'no threshold: never' : `p >= ${Number(tau).toFixed(3)}`})`,
    table.toString(),
    `onnxruntime gives the logits of ${probe.rows} probe rows to ${probe.relative.toExponential(1)} (limit ${probe.tolerance})`,
  ].join('\n')
}
