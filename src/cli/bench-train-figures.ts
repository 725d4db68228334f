/**
 * From measurements of training to the figures of the table. Pure. Engines are compared by CPU time within a round,
 * so that a neighbour on the machine does not decide; jobs are wall time of two processes that ran at once.
 */
import { median, pairedRatio, summarise } from '../../models/frozen-lm/bench-statistics.ts'
import {
  type EngineArm,
  type JobCost,
  type MeasuredStep,
  TRAIN_BENCH_ROWS,
  type TrainBenchRecord,
  type TrainBenchRow,
} from '../../training/bench/bench-record.ts'
import { type BenchFigure, benchFigure, type FigureGoal } from './bench-figure.ts'

export type TrainFigure = BenchFigure<TrainBenchRow>

/** Five rotations and the final model, two at a time. */
const ROUNDS = 3
const HOUR_MS = 3_600_000
const JOB_GOAL_HOURS = { once: 0.8, 'shared-first': 2.2 } as const
/** Both processes and their parent, which holds pairs and results. */
const MEMORY_GOAL_GB = 4

export function trainFigures(input: {
  readonly record: TrainBenchRecord
  readonly rows: readonly TrainBenchRow[]
  /** Goals are meant for the paper's size. */
  readonly judged: boolean
}): readonly TrainFigure[] {
  const { record, rows, judged } = input
  const makers = { engines, schemes, job, scoring, memory, metrics } satisfies Record<TrainBenchRow, Maker>
  return TRAIN_BENCH_ROWS.filter((row) => rows.includes(row)).flatMap((row) =>
    makers[row](record, (name, value, goal = {}) => benchFigure({ row, judged }, { name, value, ...goal })),
  )
}

type Make = (name: string, value: number | null, goal?: FigureGoal) => TrainFigure
type Maker = (record: TrainBenchRecord, make: Make) => readonly TrainFigure[]

function engines({ steps }: TrainBenchRecord, make: Make): readonly TrainFigure[] {
  const stepsOf = (arm: EngineArm): MeasuredStep | undefined =>
    steps.find(
      ({ engine, derivatives, scheme }) =>
        engine === arm.engine && derivatives === arm.derivatives && scheme === 'dense256',
    )
  const times = (step: MeasuredStep | undefined): readonly number[] =>
    step?.costs.map(({ stepCpuMs }) => stepCpuMs) ?? []
  const ours = times(stepsOf({ engine: 'ort-cpu', derivatives: 'explicit' }))
  const over = (derivatives: EngineArm['derivatives'], what: string, goal: number): TrainFigure => {
    const theirs = stepsOf({ engine: 'tfjs-wasm', derivatives })
    const reason = theirs?.unavailable ?? null
    const note = reason === null ? `${theirs?.costs.length ?? 0} steps of tfjs` : `unavailable: ${reason}`
    return make(`ort-cpu over tfjs-wasm ${what}, per step of 256 pairs`, pairedRatio(times(theirs), ours), {
      goal,
      note,
    })
  }
  return [over('plain', 'with its own derivatives', 60), over('explicit', 'with explicit transposes', 4)]
}

function schemes({ steps }: TrainBenchRecord, make: Make): readonly TrainFigure[] {
  return steps
    .filter(({ engine, costs }) => engine === 'ort-cpu' && costs.length > 0)
    .map(({ scheme, costs }) => {
      const perSecond = costs.map(({ pairs, buildMs, stepMs }) => (1000 * pairs) / (buildMs + stepMs))
      return make(`samples per second, one process, ${scheme}`, median(perSecond), { note: spread(perSecond) })
    })
}

function job({ jobs }: TrainBenchRecord, make: Make): readonly TrainFigure[] {
  return jobs.flatMap(({ recipe, costs }) => {
    const hours = costs.map((cost) => (ROUNDS * wholeJobMs(cost)) / HOUR_MS)
    const cpuHours = costs.map((cost) => (ROUNDS * wholeJobMs(cost, 'cpuMs')) / HOUR_MS)
    const [first] = costs
    const part = first === undefined ? 0 : (100 * first.samples) / first.wholeSamples
    const rate = costs.reduce((sum, { samples, stepMs }) => sum + (1000 * samples) / sumOf(stepMs), 0)
    const bytes = costs.map(({ peakBytes }) => peakBytes).filter((peak) => peak !== null)
    const peaks = bytes.length < costs.length ? null : sumOf(bytes) / 1e9
    return [
      // The slower of the two decides when a round ends.
      make(`hours for 5 rotations of 10 epochs and the final model on 2 cores, ${recipe}`, Math.max(...hours), {
        goal: JOB_GOAL_HOURS[recipe],
        bound: 'at most',
        note: `from ${part.toFixed(1)} % of a rotation's samples; ${spread(hours)}; by CPU time ${Math.max(...cpuHours).toPrecision(2)}`,
      }),
      make(`samples per second of both processes, mix4, ${recipe}`, rate),
      make(`peak memory of both processes, GB, ${recipe}`, peaks, { goal: MEMORY_GOAL_GB, bound: 'at most' }),
    ]
  })
}

/** Each stage grows with its own amount: samples, pairs, epochs, or nothing. */
export function wholeJobMs({ stages }: Pick<JobCost, 'stages'>, clock: 'ms' | 'cpuMs' = 'ms'): number {
  return sumOf(stages.map((stage) => (stage[clock] * stage.whole) / Math.max(1, stage.measured)))
}

function scoring({ scoring: runs }: TrainBenchRecord, make: Make): readonly TrainFigure[] {
  const [dense, projected] = [runs.map(({ denseMs }) => denseMs), runs.map(({ projectedMs }) => projectedMs)]
  const difference = Math.max(...runs.map((run) => run.difference))
  return [
    make('a dense pass over cached projections, one checkpoint of 64 candidates', pairedRatio(dense, projected), {
      goal: 15,
      note: `${median(dense).toFixed(1)} against ${median(projected).toFixed(2)} ms; logits differ by ${difference.toExponential(0)} at most`,
    }),
  ]
}

function memory({ memory: runs }: TrainBenchRecord, make: Make): readonly TrainFigure[] {
  return runs.map(({ recipe, addedBytes, vectorBytes }) =>
    make(`private memory of the dataset per process, MB, ${recipe}`, addedBytes === null ? null : addedBytes / 1e6, {
      goal: 100,
      bound: 'at most',
      note: `vectors take ${(vectorBytes / 1e9).toPrecision(2)} GB of file${addedBytes === null ? '; this kernel does not say' : ''}`,
    }),
  )
}

function metrics({ metrics: runs }: TrainBenchRecord, make: Make): readonly TrainFigure[] {
  const seconds = runs.map(({ ms }) => ms / 1000)
  const note = `all metrics of one predictor, ${(runs[0]?.pairs ?? 0).toLocaleString('en-US')} pairs; ${spread(seconds)}`
  return [make('seconds for metrics with 1,000 bootstrap draws', median(seconds), { goal: 5, bound: 'at most', note })]
}

function spread(values: readonly number[]): string {
  const { min, max, count } = summarise(values)
  return `${count} runs, ${min.toPrecision(3)} to ${max.toPrecision(3)}`
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
