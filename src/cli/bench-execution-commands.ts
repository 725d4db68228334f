/** keepready bench weights, keepready bench quantize: what the ways to run a model cost and change, on real text. */
import { Command } from 'commander'
import { importFiles } from '../../data/import/import-files.ts'
import {
  compareCost,
  compareHidden,
  type LayerAgreement,
  type RunCost,
} from '../../models/frozen-lm/bench-execution.ts'
import { openBenchModel, SMOLLM2_NAME } from '../../models/frozen-lm/bench-model.ts'
import { type Checkpoint, openCheckpoint } from '../../models/frozen-lm/checkpoint.ts'
import { resolveLayer } from '../../models/frozen-lm/load-frozen-lm.ts'
import { isHalfPrecision } from '../../models/frozen-lm/session-plan.ts'
import { packageFile } from '../../models/package-root.ts'
import { loadTokenizer } from '../../models/tokenizer/hf-tokenizer.ts'
import { AppError } from '../errors.ts'
import { interactionText } from '../trajectory/interaction-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { findModel } from './find-model.ts'
import { startProgress } from './progress.ts'
import { createResultTable } from './result-table.ts'
import { withAction } from './run-action.ts'
import { wholeNumber } from './whole-number.ts'

interface ExecutionBenchFlags {
  readonly model: string
  readonly layer: string
  readonly lengths: readonly string[]
  readonly rounds: string
  readonly tokens?: string
  readonly seed: string
}

const LENGTHS = ['32', '256', '2048']

function createBench(name: string, summary: string, description: string): Command {
  return new Command(name)
    .summary(summary)
    .description(description)
    .option('--model <dir>', `checkpoint directory, tiny, ${SMOLLM2_NAME} or smollm2-shape`, SMOLLM2_NAME)
    .option('--layer <n>', 'layer of the timed runs; `default` is two thirds of the depth', 'default')
    .option('--lengths <tokens...>', 'lengths of the timed runs', LENGTHS)
    .option('--rounds <n>', 'rounds to take medians over', '5')
    .option('--seed <n>', 'seed of random weights', '0')
}

export function createWeightsBench(): Command {
  const command = createBench(
    'weights',
    'mapped against packed weights',
    'CPU time of a run with --weights mmap over one with --weights resident, alternating in one process. What each\n' +
      'takes in memory is said before every extraction, and in docs/devices.md.',
  ).addHelpText('after', '\nExample:\n  $ keepready bench weights --model tiny --rounds 3')
  return withAction<ExecutionBenchFlags>(command, async (context, flags) =>
    withModel(context, flags, async ({ checkpoint, layer, tokens, lengths, rounds, hooks, description }) => {
      const costs = await compareCost(
        { checkpoint, layer, base: { weights: 'resident' }, other: { weights: 'mmap' } },
        { lengths, rounds, tokens },
        hooks,
      )
      const dtype = isHalfPrecision(checkpoint) ? 'half precision' : 'F32'
      const figures = costs.map(({ tokens: length, ratio }) => figure(`mmap over resident, ${length} tokens`, ratio))
      const document = { bench: 'weights', figures, model: description, dtype, layer, rounds, costs }
      const title = `${description} (${dtype}), layer ${layer}, CPU ms of one run, medians of ${rounds} rounds`
      return { data: document, text: `${title}\n${costTable('resident', 'mmap', costs)}\n${JSON.stringify(document)}` }
    }),
  )
}

export function createQuantizeBench(): Command {
  const command = createBench(
    'quantize',
    'integer products against float32',
    'Hidden states with --quantize int8 beside those of float32 after every layer, on the text of a sample run: cosine\n' +
      'of token 0 (its activation is far larger than all others) and of the rest; and CPU time of a run.',
  )
    .option('--tokens <n>', 'tokens of text that are compared', '512')
    .addHelpText('after', '\nExample:\n  $ keepready bench quantize --model tiny --tokens 256')
  return withAction<ExecutionBenchFlags>(command, async (context, flags) =>
    withModel(context, flags, async ({ checkpoint, layer, tokens, lengths, rounds, hooks, description }) => {
      const compared = tokens.subarray(0, wholeNumber('--tokens', flags.tokens ?? '512', 2))
      const pair = { checkpoint, base: {}, other: { quantize: 'int8' as const } }
      const layers = Array.from({ length: checkpoint.config.layerCount }, (_, i) => i + 1)
      const agreements = await compareHidden(pair, { layers, tokens: compared }, hooks)
      const costs = await compareCost({ ...pair, layer }, { lengths, rounds, tokens }, hooks)
      const own = agreements.find((one) => one.layer === layer)
      const figures = [
        figure(`mean cosine at layer ${layer}`, own?.meanCosine ?? Number.NaN),
        figure(`lowest cosine at layer ${layer}`, own?.lowestCosine ?? Number.NaN),
        ...costs.map(({ tokens: length, ratio }) => figure(`int8 over float32, ${length} tokens`, ratio)),
      ]
      const document = { bench: 'quantize', figures, model: description, layer, agreements, costs, rounds }
      const title = `${description}: int8 against float32, ${compared.length} tokens of a sample run`
      const table = `${agreementTable(agreements)}\n${costTable('float32', 'int8', costs)}`
      return { data: document, text: `${title}\n${table}\n${JSON.stringify(document)}` }
    }),
  )
}

interface Scope {
  readonly checkpoint: Checkpoint
  readonly description: string
  readonly layer: number
  readonly tokens: Int32Array
  readonly lengths: readonly number[]
  readonly rounds: number
  readonly hooks: { readonly signal: AbortSignal; readonly onStep: (what: string) => void }
}

async function withModel(
  context: CommandContext,
  flags: ExecutionBenchFlags,
  run: (scope: Scope) => Promise<CommandResult>,
): Promise<CommandResult> {
  const rounds = wholeNumber('--rounds', flags.rounds, 1)
  const lengths = flags.lengths.map((length) => wholeNumber('--lengths', length, 1))
  const wanted = flags.layer === 'default' ? flags.layer : wholeNumber('--layer', flags.layer, 1)
  const model = await openBenchModel(flags.model, {
    seed: wholeNumber('--seed', flags.seed, 0),
    find: (name) => findModel(name, context),
  })
  try {
    const checkpoint = openCheckpoint(model.directory)
    const layer = resolveLayer({ directory: model.directory, wanted, layerCount: checkpoint.config.layerCount })
    const least = Math.max(...lengths, flags.tokens === undefined ? 0 : wholeNumber('--tokens', flags.tokens, 2))
    const tokens = await sampleTokens(model.directory, { least, signal: context.signal })
    const progress = startProgress(context, { stage: 'bench', total: null, unit: 'steps' })
    let steps = 0
    const onStep = (what: string): void => progress.update(++steps, what)
    const hooks = { signal: context.signal, onStep }
    const result = await run({ checkpoint, description: model.description, layer, tokens, lengths, rounds, hooks })
    progress.done(`${steps} steps`)
    return result
  } finally {
    model.cleanUp()
  }
}

/** Text of the sample runs, from the beginning of each. */
async function sampleTokens(
  directory: string,
  options: { readonly least: number; readonly signal: AbortSignal },
): Promise<Int32Array> {
  const { least, signal } = options
  const tokenizer = loadTokenizer(directory)
  const { trajectories } = await importFiles([packageFile('data', 'samples')], { signal })
  const ids: number[] = [...tokenizer.prefixIds]
  for (const { interactions } of trajectories)
    for (const interaction of interactions) {
      if (ids.length >= least) return Int32Array.from(ids)
      ids.push(...tokenizer.encode(interactionText(interaction)))
    }
  if (ids.length >= least) return Int32Array.from(ids)
  throw new AppError(
    'option-invalid',
    `--lengths ${least}: the sample runs have ${ids.length} tokens in all; ask for fewer`,
  )
}

function figure(name: string, value: number) {
  return { name, value: Number(value.toPrecision(6)), goal: null, ok: null }
}

function costTable(base: string, other: string, costs: readonly RunCost[]): string {
  const table = createResultTable(['>tokens', `>${base} ms`, `>${other} ms`, `>${other} / ${base}`])
  table.push(
    ...costs.map(({ tokens, baseMs, otherMs, ratio }) => [
      tokens.toLocaleString('en-US'),
      baseMs.toFixed(1),
      otherMs.toFixed(1),
      ratio.toFixed(2),
    ]),
  )
  return table.toString()
}

function agreementTable(agreements: readonly LayerAgreement[]): string {
  const table = createResultTable(['>layer', '>token 0', '>others, mean', '>others, lowest', '>relative error'])
  table.push(
    ...agreements.map(({ layer, firstCosine, meanCosine, lowestCosine, meanError }) => [
      layer,
      firstCosine.toFixed(5),
      meanCosine.toFixed(5),
      lowestCosine.toFixed(5),
      meanError.toFixed(4),
    ]),
  )
  return table.toString()
}
