/**
 * keepready bench: latency and memory as ratios measured in one run, so that they mean the same on any machine.
 */

import { Command } from 'commander'
import {
  type ArmSummary,
  benchExtraction,
  benchStepCount,
  type ExtractionBench,
} from '../../../models/frozen-lm/bench-extraction.ts'
import { openBenchModel, SMOLLM2_SHAPE_NAME } from '../../../models/frozen-lm/bench-model.ts'
import { SMOLLM2_SHAPE } from '../../../models/frozen-lm/bench-random-checkpoint.ts'
import { openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { defaultLayer } from '../../../models/frozen-lm/load-frozen-lm.ts'
import { createImportBench } from '../bench-import-command.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { startProgress } from '../progress.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'
import { wholeNumber } from '../whole-number.ts'

interface ExtractFlags {
  readonly model: string
  readonly layer: string
  readonly shared: string
  readonly targets: string
  readonly targetTokens: string
  readonly naiveViews: string
  readonly rounds: string
  readonly seed: string
}

interface Figure {
  readonly name: string
  readonly value: number
  /** What the value must reach; null for a figure that is only reported. */
  readonly goal: number | null
  readonly ok: boolean | null
}

/** Goals of the extraction figures (issue 3); they are meant for this shape, and only judged on it. */
const GOAL_SPEED_UP = 4.5
const GOAL_PREFILL_SHARE = 0.85
const JUDGED = { hiddenSize: SMOLLM2_SHAPE.hidden_size, sharedTokens: 2048, targetCount: 16, targetTokens: 256 }
/** Depth of the reference measurements; every ratio is the same at other depths, minutes are not. */
const DEFAULT_DEPTH = 12

const EXAMPLE =
  '\nExample:\n  $ keepready bench extract --rounds 1\n  $ keepready bench extract --model tiny --shared 512 --json'

export function createCommand(): Command {
  const extract = new Command('extract')
    .summary('shared-prefix schedule beside naive views and one full-context pass')
    .description(
      'Measures one checkpoint (a shared part and its targets) three ways over the same tokens, interleaved in one\n' +
        'process, medians over rounds; ratios are of CPU time. Peak memory: each arm alone in a child process. The\n' +
        'naive arm runs some of its views and is scaled up. The last line on stdout is one JSON document.',
    )
    .option('--model <dir>', `checkpoint directory, tiny, or ${SMOLLM2_SHAPE_NAME}`, SMOLLM2_SHAPE_NAME)
    .option(
      '--layer <n>',
      `hidden states after this layer; default: the smaller of ${DEFAULT_DEPTH} and 2/3 of the depth`,
      'default',
    )
    .option('--shared <tokens>', 'tokens of the shared part', '2048')
    .option('--targets <n>', 'targets of the checkpoint', '16')
    .option('--target-tokens <tokens>', 'mean tokens of a target (single ones within 25 %)', '256')
    .option('--naive-views <n>', 'views the naive arm really runs', '2')
    .option('--rounds <n>', 'rounds to take medians over', '3')
    .option('--seed <n>', 'seed of the tokens and of random weights', '0')
    .addHelpText('after', EXAMPLE)
  return new Command('bench')
    .summary('latency and memory of extraction, and speed of import')
    .description(
      'Measures extraction as ratios within one run, and import in MB per second. Without a subcommand: extract.',
    )
    .addHelpText('after', EXAMPLE)
    .addCommand(withAction<ExtractFlags>(extract, runExtract), { isDefault: true })
    .addCommand(createImportBench())
}

async function runExtract(context: CommandContext, flags: ExtractFlags): Promise<CommandResult> {
  const seed = wholeNumber('--seed', flags.seed, 0)
  const schedule = {
    sharedTokens: wholeNumber('--shared', flags.shared, 1),
    targetCount: wholeNumber('--targets', flags.targets, 1),
    targetTokens: wholeNumber('--target-tokens', flags.targetTokens, 1),
    naiveViewCount: wholeNumber('--naive-views', flags.naiveViews, 1),
    seed,
  }
  const rounds = wholeNumber('--rounds', flags.rounds, 1)
  const wanted = flags.layer === 'default' ? null : wholeNumber('--layer', flags.layer, 1)
  const model = openBenchModel(flags.model, { layerCount: wanted ?? DEFAULT_DEPTH, seed })
  try {
    const { layerCount, hiddenSize } = openCheckpoint(model.directory).config
    const layer = wanted ?? Math.min(DEFAULT_DEPTH, Math.max(1, defaultLayer(layerCount)))
    const progress = startProgress(context, { stage: 'bench extract', total: benchStepCount(rounds), unit: 'steps' })
    const bench = await benchExtraction({
      directory: model.directory,
      layer,
      schedule,
      rounds,
      signal: context.signal,
      onStep: ({ done, what }) => progress.update(done, what),
    })
    progress.done(`${rounds} rounds at layer ${layer} of ${model.description}`)
    const judged =
      hiddenSize === JUDGED.hiddenSize &&
      schedule.sharedTokens === JUDGED.sharedTokens &&
      schedule.targetCount === JUDGED.targetCount &&
      schedule.targetTokens === JUDGED.targetTokens
    const document = {
      bench: 'extract',
      figures: figuresOf(bench, judged),
      model: model.description,
      layer,
      schedule,
      rounds,
      matmul_gflops: round(bench.matMulGflops),
      prefill_gflops: round(bench.prefillGflops),
      naive_equals_shared_bit_for_bit: bench.bitEqual,
      arms: bench.arms,
    }
    return { data: document, text: `${tableOf(bench, document)}\n${JSON.stringify(document)}` }
  } finally {
    model.cleanUp()
  }
}

function figuresOf(bench: ExtractionBench, judged: boolean): readonly Figure[] {
  const reported = (name: string, value: number): Figure => ({ name, value: round(value), goal: null, ok: null })
  const withGoal = (name: string, value: number, goal: number): Figure =>
    judged ? { ...reported(name, value), goal, ok: value >= goal } : reported(name, value)
  return [
    withGoal('shared-prefix speed-up over naive views', bench.speedUp, GOAL_SPEED_UP),
    withGoal('prefill share of 2048^3 MatMul rate', bench.prefillShare, GOAL_PREFILL_SHARE),
    ...bench.arms.map(({ arm, memory }) => reported(`peak RSS of ${arm}, MB`, memory.peakBytes / 1e6)),
    ...bench.arms.map(({ arm, wallMs }) => reported(`ms per checkpoint, ${arm}`, wallMs)),
  ]
}

function tableOf(
  bench: ExtractionBench,
  run: {
    readonly figures: readonly Figure[]
    readonly model: string
    readonly layer: number
    readonly rounds: number
  },
): string {
  const arms = createResultTable([
    'arm',
    '>tokens computed',
    '>wall ms',
    '>CPU ms',
    '>peak RSS MB',
    '>over the loaded model MB',
  ])
  arms.push(...bench.arms.map(armRow))
  const figures = createResultTable(['figure', '>value', '>goal', 'ok'])
  figures.push(...run.figures.slice(0, 2).map(figureRow))
  return [
    `${run.model}, layer ${run.layer}, medians of ${run.rounds} rounds`,
    arms.toString(),
    figures.toString(),
    `prefill of the shared part ${bench.prefillGflops.toFixed(1)} GF/s, 2048^3 MatMul ${bench.matMulGflops.toFixed(1)} GF/s, one thread`,
    `naive views equal the shared-prefix schedule bit for bit: ${bench.bitEqual ? 'yes' : 'NO'}`,
  ].join('\n')
}

function armRow({ arm, computedTokens, wallMs, cpuMs, memory }: ArmSummary): string[] {
  return [
    arm,
    computedTokens.toLocaleString('en-US'),
    wallMs.toFixed(0),
    cpuMs.toFixed(0),
    (memory.peakBytes / 1e6).toFixed(0),
    ((memory.peakBytes - memory.loadedBytes) / 1e6).toFixed(0),
  ]
}

function figureRow({ name, value, goal, ok }: Figure): string[] {
  if (goal === null) return [name, value.toFixed(2), 'not judged at this shape', '']
  return [name, value.toFixed(2), `>= ${goal}`, ok === true ? 'yes' : 'NO']
}

function round(value: number): number {
  return Number(value.toPrecision(4))
}
