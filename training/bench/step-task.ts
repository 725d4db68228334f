/** One training step at a time, on pairs drawn as a batch scheme draws them. */
import { assignParts, rotationSplit } from '../../data/rotations.ts'
import { readDataset } from '../../data/store/read-dataset.ts'
import { initialiseRouter } from '../../models/router/initialise.ts'
import { createRng, type Rng, shuffled } from '../../src/rng.ts'
import { type BackendOptions, DEFAULT_ADAMW, type TrainerBackend } from '../backends/backend.ts'
import { loadTfjsWasm } from '../backends/load-tfjs.ts'
import { openBackend } from '../backends/open-backend.ts'
import { createTfjsBackend } from '../backends/tfjs.ts'
import { buildBatch, createBatchSource } from '../batch.ts'
import { dropoutMask } from '../dropout-mask.ts'
import { epochOrder } from '../epoch-order.ts'
import { pairsOfGroups, type TrajectoryPairs } from '../split-pairs.ts'
import { standardise } from '../standardise.ts'
import { resolveTrainConfig } from '../train-config.ts'
import { specOf } from '../train-rotation.ts'
import type { BatchScheme, BenchResults, BenchTasks } from './bench-record.ts'

const DENSE_PAIRS = 256
/** Means and deviations do not change what a step costs. */
const RUNS_FOR_STANDARDISATION = 4

export async function openStepTask(task: BenchTasks['step']): Promise<() => Promise<BenchResults['step']>> {
  const dataset = await readDataset(task.dataset)
  const config = resolveTrainConfig('hidden', { width: task.width })
  const training = pairsOfGroups(dataset, rotationSplit(assignParts(dataset.trajectories, 1), 0).train)
  const spec = specOf(dataset, 'hidden', config)
  const { positiveWeight } = config
  const few = training.slice(0, RUNS_FOR_STANDARDISATION)
  const standardisation = standardise({ dataset, spec, trajectories: few, positiveWeight })
  const source = createBatchSource({ dataset, spec, standardisation })
  const backend = await openArm(task, { spec, parameters: initialiseRouter(spec, 1), adamw: DEFAULT_ADAMW })
  const rng = createRng(1)
  const next = drawSlots(task.scheme, training, rng)
  return async () => {
    const startMs = performance.now()
    const slots = next()
    const batch = buildBatch(source, slots, { positiveWeight })
    const mask = dropoutMask(batch.trajectories * batch.pairs * spec.width, spec.dropout, rng)
    const builtMs = performance.now()
    const cpuBefore = process.cpuUsage()
    await backend.step(batch, mask)
    const { user, system } = process.cpuUsage(cpuBefore)
    const endMs = performance.now()
    const pairs = slots.reduce((sum, slot) => sum + slot.length, 0)
    return { pairs, buildMs: builtMs - startMs, stepMs: endMs - builtMs, stepCpuMs: (user + system) / 1000 }
  }
}

async function openArm(task: BenchTasks['step'], options: BackendOptions): Promise<TrainerBackend> {
  if (task.engine === 'tfjs-wasm')
    return createTfjsBackend(await loadTfjsWasm(), { ...options, derivatives: task.derivatives })
  return openBackend(task.engine, options)
}

function drawSlots(
  scheme: BatchScheme,
  training: readonly TrajectoryPairs[],
  rng: Rng,
): () => readonly (readonly number[])[] {
  const all = scheme === 'dense256' ? training.flat() : []
  let queue: (readonly (readonly number[])[])[] = []
  const refill = (): (readonly (readonly number[])[])[] => {
    if (scheme === 'mix4') return [...epochOrder(training, rng)]
    if (scheme === 'traj1') return shuffled(training, rng).map((pairs) => [pairs])
    return [Array.from({ length: DENSE_PAIRS }, () => [all[rng.nextBelow(all.length)] as number])]
  }
  return () => {
    if (queue.length === 0) queue = refill()
    return queue.pop() ?? []
  }
}
