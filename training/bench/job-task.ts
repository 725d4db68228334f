/**
 * A rotation's training on a share of its runs, stage by stage with the same functions as a whole one. What a stage grows
 * with is counted, so that the whole job's time follows without running it for an hour.
 */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assignParts, rotationSplit } from '../../data/rotations.ts'
import { readDataset } from '../../data/store/read-dataset.ts'
import { readProcessMemory } from '../../models/frozen-lm/bench-memory.ts'
import { initialiseRouter } from '../../models/router/initialise.ts'
import { foldStandardisation } from '../../models/router/standardisation.ts'
import { invariant } from '../../src/errors.ts'
import { DEFAULT_ADAMW } from '../backends/backend.ts'
import { REFERENCE_ENGINE } from '../backends/engine-names.ts'
import { openBackend } from '../backends/open-backend.ts'
import { createBatchSource } from '../batch.ts'
import { pairsPerEpoch } from '../epoch-order.ts'
import { runTraining } from '../loop.ts'
import { predict } from '../predict.ts'
import { keepLoopState } from '../resume/loop-state-file.ts'
import { pairsOfGroups, type TrajectoryPairs } from '../split-pairs.ts'
import { standardise } from '../standardise.ts'
import { resolveTrainConfig } from '../train-config.ts'
import { specOf } from '../train-rotation.ts'
import type { BenchTasks, JobCost } from './bench-record.ts'

export async function openJobTask(task: BenchTasks['job']): Promise<() => Promise<JobCost>> {
  const dataset = await readDataset(task.dataset)
  const config = resolveTrainConfig('hidden', { width: task.width, patience: 1000 })
  const split = rotationSplit(assignParts(dataset.trajectories, 1), 0)
  const [training, validation, test] = [split.train, split.validation, split.test].map((groups) =>
    share(pairsOfGroups(dataset, groups), task.share),
  ) as [Shared, Shared, Shared]
  const spec = specOf(dataset, 'hidden', config)

  return async () => {
    const stages: JobCost['stages'][number][] = []
    const mark = createStopwatch()
    const stage = (name: string, amounts: { measured: number; whole: number }): void => {
      stages.push({ name, ...mark(), ...amounts })
    }
    const once = { measured: 1, whole: 1 }
    const { positiveWeight, hiddenScale } = config
    const standardisation = standardise({ dataset, spec, trajectories: training.part, positiveWeight, hiddenScale })
    stage('standardise', countPairs(training))
    const source = createBatchSource({ dataset, spec, standardisation })
    const adamw = { ...DEFAULT_ADAMW, learningRate: config.learningRate, decay: config.decay }
    const backend = await openBackend(REFERENCE_ENGINE, { spec, parameters: initialiseRouter(spec, 1), adamw })
    const folder = await mkdtemp(join(tmpdir(), 'keepready-bench-job-'))
    stage('open', once)
    const epochs = { measured: config.epochs, whole: config.epochs }
    const stepMs: number[] = []
    const [steps, validating, keeping] = [createTotal(), createTotal(), createTotal()]
    try {
      const state = await runTraining({
        backend,
        source,
        training: training.part,
        validation: validation.part,
        config,
        state: null,
        onStep() {
          const cost = mark()
          stepMs.push(cost.ms)
          steps.add(cost)
        },
        async onEpoch(after) {
          validating.add(mark())
          await keepLoopState(folder, spec, after)
          keeping.add(mark())
        },
      })
      const samples = config.epochs * pairsPerEpoch(training.part)
      const wholeSamples = config.epochs * pairsPerEpoch(training.all)
      stages.push({ name: 'steps', ...steps.sum(), measured: samples, whole: wholeSamples })
      stages.push({ name: 'validate', ...validating.sum(), ...countPairs(validation) })
      stages.push({ name: 'keep state', ...keeping.sum(), ...epochs })
      const best = invariant(state.best, 'training ran an epoch')
      backend.importState({ ...state.backend, parameters: best.parameters })
      stage('load the best', once)
      await predict(backend, source, [...validation.part, ...test.part, ...training.part])
      stage('predict', sumOf([validation, test, training].map(countPairs)))
      foldStandardisation({ spec, parameters: best.parameters, standardisation })
      stage('fold', once)
      const memory = readProcessMemory(process.pid)
      const { peakBytes = null, anonymousBytes = null } = memory ?? {}
      return { stages, stepMs, samples, wholeSamples, peakBytes, anonymousBytes }
    } finally {
      source.rows.close()
      await backend.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

interface Cost {
  readonly ms: number
  /** Of this process. */
  readonly cpuMs: number
}

/** @returns what passed since its last call */
function createStopwatch(): () => Cost {
  let [ms, cpu] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    const cost = { ms: performance.now() - ms, cpuMs: (user + system) / 1000 }
    ;[ms, cpu] = [performance.now(), process.cpuUsage()]
    return cost
  }
}

function createTotal(): { add(cost: Cost): void; sum(): Cost } {
  let [ms, cpuMs] = [0, 0]
  return {
    add(cost) {
      ms += cost.ms
      cpuMs += cost.cpuMs
    },
    sum: () => ({ ms, cpuMs }),
  }
}

interface Shared {
  readonly all: readonly TrajectoryPairs[]
  readonly part: readonly TrajectoryPairs[]
}

/** Runs evenly spread, so that short and long ones are there as in the whole. */
function share(all: readonly TrajectoryPairs[], part: number): Shared {
  const count = Math.min(all.length, Math.max(1, Math.round(part * all.length)))
  const at = (k: number): number => Math.floor(((k + 0.5) * all.length) / count)
  return { all, part: Array.from({ length: count }, (_, k) => all[at(k)] ?? []) }
}

function countPairs({ all, part }: Shared): { measured: number; whole: number } {
  return { measured: part.flat().length, whole: all.flat().length }
}

function sumOf(amounts: readonly { measured: number; whole: number }[]): { measured: number; whole: number } {
  return amounts.reduce((sum, one) => ({ measured: sum.measured + one.measured, whole: sum.whole + one.whole }))
}
