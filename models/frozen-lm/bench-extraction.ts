/**
 * Measures the extraction schedules of one model: every arm in a process of its own, all of them interleaved round by
 * round, so that what disturbs the machine for a while disturbs all. Only measures; what the numbers mean is said by
 * src/cli/bench-figures.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { type ArmProcess, startArm, startOwnArm } from './bench-arm-process.ts'
import { MATMUL_PART } from './bench-arms.ts'
import { prefillFlops } from './bench-flops.ts'
import { measureLoads } from './bench-load.ts'
import { type Peer, preparePeers } from './bench-peers.ts'
import { type BenchGrid, cellsOf, type PlannedArm, planArms, scheduleOf, viewsOf } from './bench-plan.ts'
import type { RanArm } from './bench-protocol.ts'
import { MATMUL_FLOPS } from './bench-rates.ts'
import type { BenchRow, CoresRound, ExtractionBenchRecord, MeasuredArm, PeerName, PrefillRate } from './bench-record.ts'
import { keyText } from './bench-record.ts'
import { createSchedule, naiveTokens } from './bench-schedule.ts'
import { median } from './bench-statistics.ts'
import { openCheckpoint } from './checkpoint.ts'
import type { WeightsMode } from './execution.ts'
import { resolveLayer } from './load-frozen-lm.ts'
import type { Device } from './port.ts'

export interface ExtractionBenchOptions {
  readonly directory: string
  readonly layer: number
  /** Of our own arms; peers run as they do. */
  readonly device?: Device | undefined
  readonly weights?: WeightsMode | undefined
  readonly grid: BenchGrid
  readonly repeats: number
  readonly rows: readonly BenchRow[]
  readonly seed: number
  /** Size of the checkpoint that is written to measure loading. */
  readonly loadBytes: number
  readonly signal?: AbortSignal | undefined
  /** Called before each step; the number of all steps is known from the start. */
  readonly onStep?:
    | ((step: { readonly done: number; readonly total: number; readonly what: string }) => void)
    | undefined
}

/** Loading is the same every time, and its memory to the page. */
const LOAD_ROUNDS = 3

/** @throws layer-out-of-range, session-failed, disk-full, interrupted */
export async function benchExtraction(options: ExtractionBenchOptions): Promise<ExtractionBenchRecord> {
  const { directory, repeats, rows, signal } = options
  const { config } = openCheckpoint(directory)
  const layer = resolveLayer({ directory, wanted: options.layer, layerCount: config.layerCount })
  const scratch = mkdtempSync(join(tmpdir(), 'keepready-bench-'))
  const open: ArmProcess[] = []
  try {
    const { peers, unavailable } = rows.includes('peers')
      ? preparePeers({ directory, layer, scratch: join(scratch, 'peers') })
      : { peers: [], unavailable: [] }
    const found = new Map(peers.map((peer) => [peer.peer, peer]))
    const planned = planArms({ ...options, layer }).filter(({ key }) => key.kind !== 'peer' || found.has(key.peer))
    const arms = planned.map((plan) => createTimedArm(plan, { options, found, vocabularySize: config.vocabularySize }))
    const prefill = rows.includes('prefill') ? createPrefill(options) : null
    const cores = rows.includes('cores') ? createCores(options) : null
    const loadRounds = rows.includes('load') ? Math.min(repeats, LOAD_ROUNDS) : 0
    const steps = arms.reduce((sum, arm) => sum + arm.plan.repeats, 0) + (prefill ? repeats : 0) + (cores ? repeats : 0)
    let done = 0
    const step = async (what: string, work: () => Promise<void>): Promise<void> => {
      signal?.throwIfAborted()
      options.onStep?.({ done, total: steps + loadRounds, what })
      await work()
      done += 1
    }
    for (let round = 1; round <= repeats; round++) {
      for (const arm of arms) {
        if (round <= arm.plan.repeats)
          await step(`round ${round}, ${keyText(arm.plan.key)}`, () => arm.run((opened) => open.push(opened)))
      }
      if (prefill !== null) await step(`round ${round}, prefill`, () => prefill.run((opened) => open.push(opened)))
      if (cores !== null) await step(`round ${round}, two cores`, () => cores.run((opened) => open.push(opened)))
    }
    const measured: MeasuredArm[] = []
    for (const arm of arms) measured.push(await arm.result())
    for (const process of open.splice(0)) await process.close()
    const loads = await measureLoads({ scratch, rounds: loadRounds, bytes: options.loadBytes, signal, step })
    return {
      layer,
      hiddenSize: config.hiddenSize,
      vocabularySize: config.vocabularySize,
      arms: measured,
      ...(prefill?.result(config, layer) ?? { matMulGflops: [], prefill: [] }),
      cores: cores?.rounds ?? [],
      loads,
      unavailablePeers: unavailable,
    }
  } finally {
    await Promise.allSettled(open.map((process) => process.close()))
    rmSync(scratch, { recursive: true, force: true })
  }
}

type OnOpen = (process: ArmProcess) => void

interface TimedArm {
  readonly plan: PlannedArm
  run(onOpen: OnOpen): Promise<void>
  result(): Promise<MeasuredArm>
}

function createTimedArm(
  plan: PlannedArm,
  context: {
    readonly options: ExtractionBenchOptions
    readonly found: ReadonlyMap<PeerName, Peer>
    readonly vocabularySize: number
  },
): TimedArm {
  const { options, found, vocabularySize } = context
  const { key, spec } = plan
  const runs: RanArm[] = []
  let process: ArmProcess | null = null

  const start = (): Promise<ArmProcess> => {
    if (spec !== null) return startOwnArm(spec, options.signal)
    const peer = key.kind === 'peer' ? found.get(key.peer) : undefined
    if (peer === undefined || key.kind !== 'peer')
      throw new AppError('invariant', 'only peers have no spec of their own')
    const { shared, targets } = createSchedule(scheduleOf(key.cell, options.seed), vocabularySize)
    const views = viewsOf(key.cell, options.grid)
    const { directory } = peer
    return startArm(peer.script, { directory, threads: 1, shared, targets, views, reuse: key.reuse }, options.signal)
  }
  return {
    plan,
    async run(onOpen) {
      if (process === null) {
        process = await start()
        onOpen(process)
      }
      runs.push(await process.run())
    },
    async result() {
      const ranTokens = runs[0]?.tokens ?? 0
      const partial = key.kind === 'naive' || (key.kind === 'peer' && !key.reuse)
      const tokens = partial
        ? naiveTokens(createSchedule(scheduleOf(key.cell, options.seed), vocabularySize))
        : ranTokens
      const scale = tokens / ranTokens
      return {
        key,
        costs: runs.map(({ cost }) => ({ wallMs: cost.wallMs * scale, cpuMs: cost.cpuMs * scale })),
        tokens,
        ranTokens,
        memory: (await process?.memory()) ?? null,
        version: process?.opened.version ?? '',
        hidden: runs[0]?.hidden ?? [],
      }
    },
  }
}

function createPrefill(options: ExtractionBenchOptions) {
  const { directory, layer, device, weights, seed, grid, signal } = options
  const lengths = grid.prefillLengths
  const rounds: RanArm[] = []
  let process: ArmProcess | null = null
  return {
    async run(onOpen: OnOpen): Promise<void> {
      if (process === null) {
        const task = { kind: 'prefill', lengths, seed } as const
        process = await startOwnArm({ directory, layer, device, weights, contextLength: null, task }, signal)
        onOpen(process)
      }
      rounds.push(await process.run())
    },
    /** Rates over CPU time, which a neighbour on the core does not stretch. */
    result(config: Parameters<typeof prefillFlops>[0], resolvedLayer: number) {
      const cpuOf = (round: RanArm, name: string): number =>
        median(round.parts.filter((part) => part.name === name).map((part) => part.cost.cpuMs))
      const matMulGflops = rounds.map((round) => MATMUL_FLOPS / 1e6 / cpuOf(round, MATMUL_PART))
      const prefill = lengths.map((tokens): PrefillRate => {
        const flops = prefillFlops(config, { layer: resolvedLayer, tokens, rows: 1 })
        const gflops = rounds.map((round) => flops / 1e6 / cpuOf(round, String(tokens)))
        return { tokens, gflops, share: gflops.map((rate, i) => rate / (matMulGflops[i] ?? Number.NaN)) }
      })
      return { matMulGflops, prefill }
    },
  }
}

/** Two processes of the same arm: one of them alone, then both at once. A session has one thread, so cores are used so. */
function createCores(options: ExtractionBenchOptions) {
  const { directory, layer, device, weights, seed, grid, signal } = options
  const [cell] = cellsOf(grid)
  const processes: ArmProcess[] = []
  const rounds: CoresRound[] = []
  return {
    rounds,
    async run(onOpen: OnOpen): Promise<void> {
      if (cell === undefined) return
      const task = { kind: 'shared-first', schedule: scheduleOf(cell, seed), views: [] } as const
      while (processes.length < 2) {
        const process = await startOwnArm({ directory, layer, device, weights, contextLength: null, task }, signal)
        processes.push(process)
        onOpen(process)
      }
      const oneMs = (await processes[0]?.run())?.cost.wallMs ?? Number.NaN
      const start = performance.now()
      await Promise.all(processes.map((process) => process.run()))
      rounds.push({ oneMs, bothMs: performance.now() - start })
    },
  }
}
