/**
 * keepready bench extract: the subcommand's options, its card, its report and its JSON line.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { benchExtraction } from '../../models/frozen-lm/bench-extraction.ts'
import { openBenchModel, SMOLLM2_NAME, SMOLLM2_SHAPE_NAME } from '../../models/frozen-lm/bench-model.ts'
import type { BenchGrid } from '../../models/frozen-lm/bench-plan.ts'
import { SMOLLM2_SHAPE } from '../../models/frozen-lm/bench-random-checkpoint.ts'
import { BENCH_ROWS, type BenchRow, type ExtractionBenchRecord } from '../../models/frozen-lm/bench-record.ts'
import { openCheckpoint } from '../../models/frozen-lm/checkpoint.ts'
import type { WeightsMode } from '../../models/frozen-lm/execution.ts'
import { resolveLayer } from '../../models/frozen-lm/load-frozen-lm.ts'
import type { Device } from '../../models/frozen-lm/port.ts'
import { EMBEDDED_MODEL } from '../../models/model-directory.ts'
import { AppError } from '../errors.ts'
import { agreementOf, type BenchSetting, cardText } from './bench-card.ts'
import type { BenchFigure } from './bench-figure.ts'
import { figuresOf } from './bench-figures.ts'
import { type ReplayTokens, replayRun, replaySteps } from './bench-replay.ts'
import { benchPlots, benchReport, standaloneSvg } from './bench-report.ts'
import { machineSetting } from './bench-setting.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { deviceOption, weightsOption } from './execution-options.ts'
import { findModel } from './find-model.ts'
import { startProgress } from './progress.ts'
import { withAction } from './run-action.ts'
import { wholeNumber } from './whole-number.ts'

interface ExtractFlags {
  readonly device: Device
  readonly weights: WeightsMode
  readonly model?: string
  readonly layer: string
  readonly shared?: string
  readonly targets?: string
  readonly targetTokens?: string
  readonly history?: string
  readonly naiveViews?: string
  readonly repeats?: string
  readonly only?: readonly BenchRow[]
  readonly quick: boolean
  readonly out?: string
  readonly seed: string
}

interface Shape {
  readonly grid: BenchGrid
  readonly repeats: number
  readonly loadBytes: number
  readonly replayCheckpoints: number
}

/** The shape of the table. */
const FULL: Shape = {
  grid: {
    sharedTokens: [2048],
    targetCounts: [16, 64],
    targetTokens: [256],
    histories: [1024, 2048, 4096, 8192, 16_384],
    prefillLengths: [256, 512, 1024, 2048],
    views: 2,
  },
  repeats: 5,
  loadBytes: 1e9,
  replayCheckpoints: 24,
}

/** Everything once or twice, in a minute, with a small model. */
const QUICK: Shape = {
  grid: {
    sharedTokens: [256],
    targetCounts: [4, 16],
    targetTokens: [32],
    histories: [256, 512, 1024],
    prefillLengths: [64, 128, 256],
    views: 2,
  },
  repeats: 2,
  loadBytes: 5e7,
  replayCheckpoints: 3,
}

const BENCH_EXTRACT_EXAMPLE =
  '\nExample:\n  $ keepready bench extract --out bench-report\n  $ keepready bench extract --only peers --repeats 3\n' +
  '  $ keepready bench extract --quick --model tiny --json'

export function createExtractBench(): Command {
  const command = new Command('extract')
    .summary('hidden-state extraction beside full contexts, naive views and other runtimes')
    .description(
      'Measures one checkpoint (a shared part and its targets) under every schedule, over the same tokens and weights:\n' +
        'each arm in a process of its own, interleaved, medians over repeats. Ratios are of CPU time, one thread each.\n' +
        'Peers (transformers.js, llama.cpp) run where `npm ci` was done in tests/bench/peers. docs/bench.md says how each\n' +
        'row is measured. The last line on stdout is one JSON document.',
    )
    .option(
      '--model <name>',
      `checkpoint directory, .gguf file, pulled ORG/NAME, ${EMBEDDED_MODEL}, or ${SMOLLM2_SHAPE_NAME} (random weights in that shape); default: SmolLM2-135M where its fetch script put it, else ${EMBEDDED_MODEL}`,
    )
    .option('--layer <n>', 'hidden states after this layer; default: two thirds of the depth', 'default')
    .addOption(deviceOption())
    .addOption(weightsOption())
    .option('--shared <tokens>', 'tokens of the shared part; several with commas, as below (default: 2048)')
    .option('--targets <n>', 'targets of a checkpoint (default: 16,64)')
    .option('--target-tokens <tokens>', 'mean tokens of a target, single ones within 25 % (default: 256)')
    .option('--history <tokens>', 'lengths of full contexts (default: 1024,2048,4096,8192,16384)')
    .option('--naive-views <n>', 'views that naive arms and peers run of each checkpoint (default: 2)')
    .option('--repeats <n>', 'runs of each arm (default: 5; full contexts above 4,096 tokens 3, above 8,192 2)')
    .addOption(new Option('--only <rows...>', 'rows of the table to measure (default: all)').choices([...BENCH_ROWS]))
    .option('--quick', `a smoke run of about a minute: small shapes, ${EMBEDDED_MODEL}, nothing judged`, false)
    .option('--out <directory>', 'also write index.html, its plots as SVG, and bench.json there')
    .option('--seed <n>', 'seed of the tokens and of random weights', '0')
    .addHelpText('after', BENCH_EXTRACT_EXAMPLE)
  return withAction<ExtractFlags>(command, runExtractBench)
}

async function runExtractBench(context: CommandContext, flags: ExtractFlags): Promise<CommandResult> {
  const shape = shapeOf(flags)
  const seed = wholeNumber('--seed', flags.seed, 0)
  const rows = BENCH_ROWS.filter((row) => flags.only === undefined || flags.only.includes(row))
  const machine = machineSetting()
  const model = await openBenchModel(flags.model ?? (flags.quick ? EMBEDDED_MODEL : SMOLLM2_NAME), {
    seed,
    find: (name) => findModel(name, context),
  })
  try {
    const { directory } = model
    const { config } = openCheckpoint(directory)
    const wanted = flags.layer === 'default' ? flags.layer : wholeNumber('--layer', flags.layer, 1)
    const layer = Math.max(1, resolveLayer({ directory, wanted, layerCount: config.layerCount }))
    requireContext(shape.grid, { contextLength: config.contextLength, directory })
    const replays = rows.includes('prefix-cache') ? await replay(context, { directory, layer, shape }) : []
    const record = await measure(context, {
      directory,
      layer,
      device: flags.device,
      weights: flags.weights,
      shape,
      rows,
      seed,
    })
    const judged = !flags.quick && config.hiddenSize === SMOLLM2_SHAPE.hidden_size && isDefaultGrid(shape.grid)
    const figures = figuresOf({ record, replays, grid: shape.grid, rows, judged })
    const setting: BenchSetting = {
      ...machine,
      model: flags.device === 'cpu' ? model.description : `${model.description} on ${flags.device}`,
      layer,
      repeats: shape.repeats,
      quick: flags.quick,
    }
    const document = documentOf({ setting, record, figures, replays, grid: shape.grid })
    if (flags.out !== undefined) writeReport(flags.out, { setting, record, figures, document })
    return { data: document, text: `${cardText({ setting, record, figures })}\n${JSON.stringify(document)}` }
  } finally {
    model.cleanUp()
  }
}

function shapeOf(flags: ExtractFlags): Shape {
  const base = flags.quick ? QUICK : FULL
  const list = (flag: string, text: string | undefined, fallback: readonly number[]): readonly number[] =>
    text === undefined ? fallback : text.split(',').map((part) => wholeNumber(flag, part, 1))
  const one = (flag: string, text: string | undefined, fallback: number): number =>
    text === undefined ? fallback : wholeNumber(flag, text, 1)
  return {
    ...base,
    grid: {
      ...base.grid,
      sharedTokens: list('--shared', flags.shared, base.grid.sharedTokens),
      targetCounts: list('--targets', flags.targets, base.grid.targetCounts),
      targetTokens: list('--target-tokens', flags.targetTokens, base.grid.targetTokens),
      histories: list('--history', flags.history, base.grid.histories),
      views: one('--naive-views', flags.naiveViews, base.grid.views),
    },
    repeats: one('--repeats', flags.repeats, base.repeats),
  }
}

/** Bounded views must fit into the model; full contexts are timed whatever their length. */
function requireContext(grid: BenchGrid, model: { readonly contextLength: number; readonly directory: string }): void {
  const longest = Math.max(...grid.sharedTokens) + Math.ceil(1.25 * Math.max(...grid.targetTokens))
  if (longest <= model.contextLength) return
  throw new AppError(
    'context-too-short',
    `a view of ${longest} tokens exceeds the context of ${model.contextLength} of ${model.directory}: lower --shared or --target-tokens`,
    { details: { tokens: longest, limit: model.contextLength } },
  )
}

function isDefaultGrid(grid: BenchGrid): boolean {
  const { histories: _, views: __, ...shape } = grid
  const { histories, views: ___, ...full } = FULL.grid
  return JSON.stringify(shape) === JSON.stringify(full) && Math.max(...grid.histories) === Math.max(...histories)
}

async function replay(
  context: CommandContext,
  options: { readonly directory: string; readonly layer: number; readonly shape: Shape },
): Promise<readonly ReplayTokens[]> {
  const { directory, layer, shape } = options
  const total = replaySteps(shape.replayCheckpoints)
  const progress = startProgress(context, { stage: 'bench extract, replay', total, unit: 'checkpoints' })
  const replays = await replayRun({
    directory,
    layer,
    checkpoints: shape.replayCheckpoints,
    signal: context.signal,
    onCheckpoint: (done) => progress.update(done),
  })
  progress.done(`${replays.length} recipes`)
  return replays
}

async function measure(
  context: CommandContext,
  options: {
    readonly directory: string
    readonly layer: number
    readonly device: Device
    readonly weights: WeightsMode
    readonly shape: Shape
    readonly rows: readonly BenchRow[]
    readonly seed: number
  },
): Promise<ExtractionBenchRecord> {
  const { directory, layer, device, weights, shape, rows, seed } = options
  const { grid, repeats, loadBytes } = shape
  const progress = startProgress(context, { stage: 'bench extract', total: null, unit: 'steps' })
  const record = await benchExtraction({
    directory,
    layer,
    device,
    weights,
    grid,
    repeats,
    rows,
    seed,
    loadBytes,
    signal: context.signal,
    onStep: ({ done, total, what }) => progress.update(done, `of ${total}: ${what}`),
  })
  progress.done(`${repeats} repeats at layer ${layer} of ${directory}`)
  return record
}

function documentOf(parts: {
  readonly setting: BenchSetting
  readonly record: ExtractionBenchRecord
  readonly figures: readonly BenchFigure[]
  readonly replays: readonly ReplayTokens[]
  readonly grid: BenchGrid
}): object {
  const { setting, record, figures, replays, grid } = parts
  const agreement = agreementOf(record)
  return {
    bench: 'extract',
    figures,
    ...setting,
    grid,
    naive_equals_shared_first_bit_for_bit: agreement.bitEqual,
    peer_cosines: agreement.peers,
    // Vectors have done their work: they are compared, not reported.
    arms: record.arms.map(({ hidden: _, ...arm }) => arm),
    prefill: record.prefill,
    matmul_gflops: record.matMulGflops,
    cores: record.cores,
    loads: record.loads,
    replays,
    unavailable_peers: record.unavailablePeers,
  }
}

function writeReport(
  directory: string,
  parts: {
    readonly setting: BenchSetting
    readonly record: ExtractionBenchRecord
    readonly figures: readonly BenchFigure[]
    readonly document: object
  },
): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'bench.json'), `${JSON.stringify(parts.document, null, 2)}\n`)
  for (const plot of benchPlots(parts.record)) writeFileSync(join(directory, `${plot.id}.svg`), standaloneSvg(plot.svg))
  writeFileSync(join(directory, 'index.html'), benchReport(parts))
}
