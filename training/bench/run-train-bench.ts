/**
 * Measures training: engines and batch schemes step by step and interleaved, two jobs on two cores, scoring, memory and
 * metrics. Each measurement runs in a process of its own.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST_FILE } from '../../data/store/layout.ts'
import { AppError } from '../../src/errors.ts'
import { type SyntheticSpec, syntheticPairCount } from '../synthetic/synthetic-spec.ts'
import { writeSynthetic } from '../synthetic/write-synthetic.ts'
import { type BenchContext, type BenchProcess, startBenchProcess } from './bench-process.ts'
import {
  BATCH_SCHEMES,
  type BatchScheme,
  type BenchResults,
  ENGINE_ARMS,
  type EngineArm,
  type MeasuredJob,
  type MeasuredStep,
  type TrainBenchRecord,
  type TrainBenchRow,
} from './bench-record.ts'

export interface TrainBenchOptions extends BenchContext {
  /** Where datasets are made, or found from an earlier run with the same spec. */
  readonly directory: string
  readonly spec: SyntheticSpec
  readonly width: number
  readonly rows: readonly TrainBenchRow[]
  /** Rounds of engines and schemes; runs of the others. */
  readonly repeats: number
  /** Runs of tfjs with the derivatives it makes itself: half a minute each at paper size. */
  readonly plainRepeats: number
  /** Of a rotation's runs, in a job. */
  readonly share: number
  readonly candidates: number
  readonly resamples: number
  readonly onStep?: ((what: string) => void) | undefined
}

const RECIPES = ['once', 'shared-first'] as const

export async function runTrainBench(options: TrainBenchOptions): Promise<TrainBenchRecord> {
  const { rows } = options
  const has = (row: TrainBenchRow): boolean => rows.includes(row)
  const steps = has('engines') || has('schemes') ? await measureSteps(options) : []
  const jobs: MeasuredJob[] = []
  const memory: TrainBenchRecord['memory'][number][] = []
  for (const recipe of RECIPES) {
    if (has('job')) jobs.push({ recipe, costs: await measureJobs(options, recipe) })
    if (has('memory')) {
      const dataset = await makeDataset(options, recipe)
      options.onStep?.(`memory of a dataset, ${recipe}`)
      for (const cost of await measureAlone(options, 'memory', { dataset }, 1)) memory.push({ recipe, ...cost })
    }
  }
  const { hiddenSize } = options.spec
  const { width, candidates, repeats, resamples } = options
  options.onStep?.('scoring')
  const scoring = has('scoring')
    ? await measureAlone(options, 'scoring', { hiddenSize, width, candidates }, 4 * repeats)
    : []
  const dataset = has('metrics') ? await makeDataset(options, 'once') : ''
  options.onStep?.('metrics')
  const metrics = has('metrics') ? await measureAlone(options, 'metrics', { dataset, resamples }, repeats) : []
  return { pairs: syntheticPairCount(options.spec), steps, jobs, scoring, memory, metrics }
}

async function makeDataset(options: TrainBenchOptions, recipe: (typeof RECIPES)[number]): Promise<string> {
  const directory = join(options.directory, recipe)
  if (existsSync(join(directory, MANIFEST_FILE))) return directory
  options.onStep?.(`making a dataset, ${recipe}`)
  await writeSynthetic(directory, { ...options.spec, recipe })
  return directory
}

interface StepArm extends EngineArm {
  readonly scheme: BatchScheme
  readonly repeats: number
}

/** Every arm runs once in each round, after a first run that is thrown away. */
async function measureSteps(options: TrainBenchOptions): Promise<readonly MeasuredStep[]> {
  const dataset = await makeDataset(options, 'once')
  const { width, repeats, plainRepeats } = options
  const measured: MeasuredStep[] = []
  const running: { process: BenchProcess<'step'>; arm: StepArm; costs: BenchResults['step'][] }[] = []
  try {
    for (const arm of stepArms(options)) {
      options.onStep?.(`opening ${arm.engine} ${arm.scheme}`)
      try {
        const task = { engine: arm.engine, derivatives: arm.derivatives, scheme: arm.scheme, dataset, width }
        const process = await startBenchProcess('step', task, options)
        running.push({ process, arm, costs: [] })
        if (arm.derivatives === 'explicit') await process.run()
      } catch (thrown) {
        if (!(thrown instanceof AppError) || thrown.code !== 'engine-unavailable') throw thrown
        measured.push({ ...arm, costs: [], unavailable: thrown.message })
      }
    }
    for (let round = 0; round < Math.max(repeats, plainRepeats); round++)
      for (const { process, arm, costs } of running) {
        if (round >= arm.repeats) continue
        options.onStep?.(`round ${round + 1}: ${arm.engine} ${arm.scheme}`)
        costs.push(await process.run())
      }
  } finally {
    for (const { process } of running) await process.close()
  }
  return [...measured, ...running.map(({ arm, costs }) => ({ ...arm, costs, unavailable: null }))]
}

function stepArms({ rows, repeats, plainRepeats }: TrainBenchOptions): readonly StepArm[] {
  const engines = rows.includes('engines')
    ? ENGINE_ARMS.map((arm) => ({
        ...arm,
        scheme: 'dense256' as const,
        repeats: arm.derivatives === 'plain' ? plainRepeats : repeats,
      }))
    : []
  const schemes = rows.includes('schemes')
    ? BATCH_SCHEMES.map((scheme) => ({ engine: 'ort-cpu' as const, derivatives: 'explicit' as const, scheme, repeats }))
    : []
  // The dense arm of the default engine serves both.
  return [...engines, ...schemes.filter(({ scheme }) => engines.length === 0 || scheme !== 'dense256')]
}

/** Two processes at once, as on two cores. */
async function measureJobs(
  options: TrainBenchOptions,
  recipe: (typeof RECIPES)[number],
): Promise<readonly BenchResults['job'][]> {
  const dataset = await makeDataset(options, recipe)
  options.onStep?.(`two jobs at once, ${recipe}`)
  const { width, share } = options
  const processes = await Promise.all([0, 1].map(() => startBenchProcess('job', { dataset, width, share }, options)))
  try {
    return await Promise.all(processes.map((process) => process.run()))
  } finally {
    await Promise.all(processes.map((process) => process.close()))
  }
}

/** @returns `runs` results, after one that is thrown away where there are several */
async function measureAlone<Kind extends 'scoring' | 'memory' | 'metrics'>(
  options: TrainBenchOptions,
  kind: Kind,
  task: Parameters<typeof startBenchProcess<Kind>>[1],
  runs: number,
): Promise<readonly BenchResults[Kind][]> {
  const process = await startBenchProcess(kind, task, options)
  try {
    if (runs > 1) await process.run()
    const results: BenchResults[Kind][] = []
    for (let run = 0; run < runs; run++) results.push(await process.run())
    return results
  } finally {
    await process.close()
  }
}
