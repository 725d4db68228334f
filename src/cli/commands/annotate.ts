/**
 * keepready annotate: runs.jsonl -> labels.jsonl.
 */
import { Command, Option } from 'commander'
import type { LineageOptions } from '../../../data/annotate/lineage.ts'
import { AppError } from '../../errors.ts'
import {
  COUNTERFACTUAL_OPTIONS,
  type CounterfactualFlags,
  readCounterfactualFlags,
  refuseCounterfactualFlags,
} from '../annotate-counterfactual-flags.ts'
import { annotateByLineage } from '../annotate-lineage.ts'
import { LLM_OPTIONS, type LlmFlags, readLlmFlags, refuseLlmFlags } from '../annotate-llm-flags.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { readEnvironment } from '../environment.ts'
import { withAction } from '../run-action.ts'
import { wholeNumber } from '../whole-number.ts'

interface AnnotateOptions extends LlmFlags, CounterfactualFlags {
  readonly annotator: string
  readonly restated?: LineageOptions['restated']
  readonly anyLiteral?: boolean
  readonly out: string
  readonly seed: string
}

const ANNOTATORS = ['lineage', 'llm', 'counterfactual'] as const

export function createCommand(): Command {
  const command = new Command('annotate')
    .summary('runs.jsonl -> labels.jsonl')
    .description(
      'Says for every interaction of every run from which checkpoint on it is READY: may be replaced by a summary.\n' +
        'lineage: a rule. READY right after the last use of what it brought in; never taken up stays KEEP.\n' +
        'llm: a language model behind any OpenAI-compatible endpoint judges every checkpoint, then settles each\n' +
        'interaction; quotes are checked by code. Nothing is sent without --yes or --redact. Stop it at any time: the\n' +
        'same command goes on, and asks for no answer twice.\n' +
        'counterfactual: a rule on probabilities. READY right after the last action that the interaction made more\n' +
        'probable to a frozen language model than interactions of other runs in its place do. Resumable too.',
    )
    .argument('<runs.jsonl>', 'runs as `keepready import` writes them')
    .requiredOption('--out <labels.jsonl>', 'file to write; replaced as a whole at the end')
    .option('--annotator <name>', `who labels: ${ANNOTATORS.join(', ')}`, 'lineage')
    .addOption(
      new Option(
        '--restated <how>',
        'lineage: a later use of what another interaction has restated by then (default: veto)',
      ).choices(['veto', 'excuse']),
    )
    .option('--any-literal', 'lineage: evidence may be any literal of the interaction, not only one it introduced')
    .option(
      '--seed <n>',
      'llm: draws the checkpoints of long runs, as extract does; counterfactual: actions, placebos',
      '0',
    )
  for (const option of [...LLM_OPTIONS, ...COUNTERFACTUAL_OPTIONS]) command.addOption(option)
  command.addHelpText(
    'after',
    '\nExamples:\n  $ keepready annotate runs.jsonl --annotator lineage --out labels.jsonl\n' +
      '  $ keepready labels stats runs.jsonl labels.jsonl\n' +
      '  $ keepready annotate runs.jsonl --annotator llm --endpoint http://localhost:8000/v1 --model qwen3-32b \\\n' +
      '      --out labels.jsonl --estimate\n' +
      '  $ keepready annotate runs.jsonl --annotator llm --endpoint https://api.example.com/v1 --model NAME \\\n' +
      '      --out labels.jsonl --redact --price-in 0.15 --price-out 0.60 --budget 5\n' +
      '  $ keepready annotate runs.jsonl --annotator counterfactual --model tiny --out labels.jsonl\n' +
      '\nWhat labels mean: docs/labels.md. The llm annotator: docs/annotate-llm.md. The counterfactual one:\n' +
      'docs/counterfactual.md',
  )
  return withAction<AnnotateOptions>(command, annotate)
}

async function annotate(
  context: CommandContext,
  options: AnnotateOptions,
  [runsPath = '']: readonly string[],
): Promise<CommandResult> {
  const { out } = options
  if (options.annotator === 'lineage') {
    refuseLlmFlags(options, 'lineage')
    refuseCounterfactualFlags(options, 'lineage')
    const lineage: LineageOptions = { restated: options.restated ?? 'veto', anyLiteral: options.anyLiteral ?? false }
    return annotateByLineage(context, { runsPath, out, lineage })
  }
  if (options.annotator !== 'llm' && options.annotator !== 'counterfactual')
    throw new AppError(
      'option-invalid',
      `--annotator ${options.annotator} is not known; choose one of: ${ANNOTATORS.join(', ')}`,
    )
  if (options.restated !== undefined || options.anyLiteral !== undefined)
    throw new AppError('option-invalid', '--restated and --any-literal belong to --annotator lineage: leave them out')
  const seed = wholeNumber('--seed', options.seed, 0)
  if (options.annotator === 'counterfactual') {
    refuseLlmFlags(options, 'counterfactual')
    const job = readCounterfactualFlags(options, seed)
    const { annotateByCounterfactual } = await import('../annotate-counterfactual.ts')
    return annotateByCounterfactual(context, { runsPath, out, job })
  }
  refuseCounterfactualFlags(options, 'llm')
  const settings = await readLlmFlags(options, readEnvironment())
  const { annotateByLlm } = await import('../annotate-llm.ts')
  return annotateByLlm(context, { runsPath, out, settings, seed })
}
