/** keepready models convert: a GGUF file -> a checkpoint directory. */
import { Command, Option } from 'commander'
import { type ConvertedGguf, convertGguf } from '../../../models/gguf/convert.ts'
import type { TargetDtype } from '../../../models/gguf/plan-tensors.ts'
import { parseTokenizerJson } from '../../../models/tokenizer/tokenizer-files.schema.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { formatBytes } from '../format-bytes.ts'
import { startProgress } from '../progress.ts'
import { readText } from '../read-text.ts'
import { withAction } from '../run-action.ts'

interface ConvertFlags {
  readonly out: string
  readonly dtype: keyof typeof DTYPES
  readonly tokenizer?: string
}

const DTYPES = { auto: null, f16: 'F16', bf16: 'BF16', f32: 'F32' } as const satisfies Record<
  string,
  TargetDtype | null
>

export function createConvert(): Command {
  const command = new Command('convert')
    .summary('a GGUF file -> a checkpoint directory')
    .description(
      'Makes a Hugging Face checkpoint directory (model.safetensors, config.json, tokenizer.json) of a GGUF file of ' +
        'llama.cpp: architectures llama (Mistral included), qwen2 and qwen3; encodings F32, F16, BF16, Q8_0, Q4_0, Q4_1, ' +
        'Q5_0, Q5_1, Q4_K, Q5_K and Q6_K; byte-level BPE tokenizers. One tensor at a time, so memory stays small. ' +
        'Commands that take --model do it themselves and keep the result in ~/.cache/keepready/gguf.',
    )
    .argument('<file>', 'a .gguf file; of a split model any part')
    .requiredOption('--out <dir>', 'new directory')
    .addOption(
      new Option('--dtype <type>', 'of the matrices; auto: as in the file, f16 where it is quantised')
        .choices(Object.keys(DTYPES))
        .default('auto'),
    )
    .option('--tokenizer <file>', "the model's own tokenizer.json, where the GGUF's tokenizer cannot be written as one")
    .addHelpText('after', '\nExample:\n  $ keepready models convert SmolLM2-135M-Instruct.Q4_1.gguf --out smollm2/')
  return withAction<ConvertFlags>(command, async (context, flags, [file = '']) => runConvert(context, flags, file))
}

async function runConvert(context: CommandContext, flags: ConvertFlags, file: string): Promise<CommandResult> {
  const tokenizerFile = flags.tokenizer ?? null
  // Read before gigabytes are written beside it.
  if (tokenizerFile !== null) parseTokenizerJson(tokenizerFile, readText(tokenizerFile))
  let progress: ReturnType<typeof startProgress> | null = null
  const converted = await convertGguf({
    file,
    out: flags.out,
    dtype: DTYPES[flags.dtype],
    tokenizerFile,
    signal: context.signal,
    onProgress({ bytes, totalBytes }) {
      progress ??= startProgress(context, { stage: 'convert', total: totalBytes / 1e6, unit: 'MB' })
      progress.update(bytes / 1e6)
    },
  })
  finish(progress, converted)
  return { data: converted, text: describe(converted) }
}

function finish(progress: ReturnType<typeof startProgress> | null, converted: ConvertedGguf): void {
  progress?.done(`${formatBytes(converted.weightBytes)} written`)
}

function describe(converted: ConvertedGguf): string {
  const { directory, architecture, dtype, tensorCount, weightBytes, encodings } = converted
  const kinds = Object.entries(encodings).map(([name, count]) => `${count} ${name}`)
  return [
    `wrote ${directory}: ${architecture}, ${tensorCount} tensors (${kinds.join(', ')} before) as ${dtype}, ${formatBytes(weightBytes)}`,
    `next: keepready models info ${directory}`,
  ].join('\n')
}
