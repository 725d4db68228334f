/**
 * Measures the extraction schedules of one model: all arms in one process, interleaved round by round, each figure a
 * median over rounds; memory in one child process per arm.
 */
import { invariant } from '../../src/errors.ts'
import {
  ARM_NAMES,
  type ArmName,
  type ArmRun,
  type Cost,
  createSchedule,
  runArm,
  type ScheduleOptions,
} from './bench-arms.ts'
import { prefillFlops } from './bench-flops.ts'
import { measurePeakMemory, type PeakMemory } from './bench-peak-memory.ts'
import { createMatMulProbe } from './bench-rates.ts'
import { openCheckpoint } from './checkpoint.ts'
import { loadFrozenLm } from './load-frozen-lm.ts'

export interface ExtractionBenchOptions {
  readonly directory: string
  readonly layer: number
  readonly schedule: ScheduleOptions
  readonly rounds: number
  readonly signal?: AbortSignal
  /** Called before each of benchStepCount(rounds) steps. */
  readonly onStep?: (step: { readonly done: number; readonly what: string }) => void
}

export interface ArmSummary {
  readonly arm: ArmName
  /** Medians over the rounds, for one checkpoint. */
  readonly wallMs: number
  readonly cpuMs: number
  readonly computedTokens: number
  readonly memory: PeakMemory
}

export interface ExtractionBench {
  readonly arms: readonly ArmSummary[]
  /** CPU time of the naive arm over that of the shared-prefix arm, median over rounds. */
  readonly speedUp: number
  /** Rate of the shared part's prefill over the 2048^3 MatMul rate of the same round, median over rounds. */
  readonly prefillShare: number
  /** 10^9 floating-point operations per second of CPU time, medians. */
  readonly matMulGflops: number
  readonly prefillGflops: number
  /** The naive views gave the same bits as the shared-prefix schedule. */
  readonly bitEqual: boolean
}

/** MatMul runs per round; their median is the round's rate. */
const MATMUL_RUNS = 3

/** Arms and MatMul in every round, then one memory measurement per arm. */
export function benchStepCount(rounds: number): number {
  return (ARM_NAMES.length + 1) * rounds + ARM_NAMES.length
}

export async function benchExtraction(options: ExtractionBenchOptions): Promise<ExtractionBench> {
  const { directory, layer, rounds, signal } = options
  let done = 0
  const step = (what: string): void => {
    signal?.throwIfAborted()
    options.onStep?.({ done, what })
    done += 1
  }

  const lm = await loadFrozenLm({ directory, layer })
  const probe = await createMatMulProbe()
  const schedule = createSchedule(options.schedule, lm.info.vocabularySize)
  // First runs pay for allocations and page faults that later ones do not.
  await lm.prefill(schedule.shared, { past: null, rows: 'last', keepState: false })
  await probe.run()

  const runs: Record<ArmName, ArmRun[]> = { 'shared-prefix': [], naive: [], 'full-context': [] }
  const matMulCosts: Cost[] = []
  for (let round = 1; round <= rounds; round++) {
    step(`round ${round}, 2048^3 MatMul`)
    const costs: Cost[] = []
    for (let i = 0; i < MATMUL_RUNS; i++) costs.push(await probe.run())
    matMulCosts.push({
      wallMs: median(costs.map((cost) => cost.wallMs)),
      cpuMs: median(costs.map((cost) => cost.cpuMs)),
    })
    for (const arm of ARM_NAMES) {
      step(`round ${round}, ${arm}`)
      runs[arm].push(await runArm(arm, { lm, schedule, signal }))
    }
  }
  await lm.close()
  await probe.close()

  // One view shows the naive arm's peak as well as all of them.
  const memorySchedule = { ...options.schedule, naiveViewCount: 1 }
  const memory = new Map<ArmName, PeakMemory>()
  for (const arm of ARM_NAMES) {
    step(`peak memory, ${arm}`)
    memory.set(arm, await measurePeakMemory({ directory, layer, arm, schedule: memorySchedule }, signal))
  }

  const flops = prefillFlops(openCheckpoint(directory).config, { layer, tokens: schedule.shared.length, rows: 1 })
  const prefillRates = runs['shared-prefix'].map((run) => rate(flops, run.sharedCost))
  const matMulRates = matMulCosts.map((cost) => rate(probe.flops, cost))
  return {
    arms: ARM_NAMES.map((arm) => ({
      arm,
      wallMs: median(runs[arm].map((run) => run.cost.wallMs)),
      cpuMs: median(runs[arm].map((run) => run.cost.cpuMs)),
      computedTokens: runs[arm][0]?.computedTokens ?? 0,
      memory: invariant(memory.get(arm), `memory of ${arm} was measured`),
    })),
    speedUp: median(runs.naive.map((run, i) => run.cost.cpuMs / (runs['shared-prefix'][i]?.cost.cpuMs ?? Number.NaN))),
    prefillShare: median(prefillRates.map((value, i) => value / (matMulRates[i] ?? Number.NaN))),
    matMulGflops: median(matMulRates),
    prefillGflops: median(prefillRates),
    bitEqual: haveEqualBits(runs.naive[0], runs['shared-prefix'][0]),
  }
}

/** 10^9 operations per second of CPU time */
function rate(flops: number, cost: Cost | null): number {
  return flops / 1e6 / (cost?.cpuMs ?? Number.NaN)
}

function haveEqualBits(naive: ArmRun | undefined, shared: ArmRun | undefined): boolean {
  if (naive === undefined || shared === undefined) return false
  return [...naive.hidden].every(([index, values]) => {
    const other = shared.hidden.get(index)
    return other !== undefined && values.every((value, i) => Object.is(value, other[i]))
  })
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}
