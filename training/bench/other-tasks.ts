/** Scoring with kept projections, the memory that a dataset takes, and the time of metrics. */
import { assignParts, ROTATIONS } from '../../data/rotations.ts'
import { readDataset } from '../../data/store/read-dataset.ts'
import { openVectorReader } from '../../data/store/vector-reader.ts'
import { readProcessMemory } from '../../models/frozen-lm/bench-memory.ts'
import { initialiseRouter } from '../../models/router/initialise.ts'
import { createProjectedScorer } from '../../models/router/projected-scorer.ts'
import { createScorer } from '../../models/router/scorer.ts'
import type { RouterSpec } from '../../models/router/spec.ts'
import { createRng, type Rng } from '../../src/rng.ts'
import { sigmoid } from '../../src/router/decide.ts'
import { topMean, topNeighbours } from '../../src/router/top-mean.ts'
import type { Matrix } from '../../src/tensor/matrix.ts'
import { measurePredictor } from '../evaluation/measure-predictor.ts'
import { createRotationTest } from '../evaluation/rotation-test.ts'
import { scopesOf } from '../evaluation/scopes.ts'
import type { BenchResults, BenchTasks } from './bench-record.ts'

const TOP_K = 4

/** One checkpoint's candidates, scored both ways. Their projections were made when the interactions ended. */
export async function openScoringTask(task: BenchTasks['scoring']): Promise<() => Promise<BenchResults['scoring']>> {
  const { hiddenSize, width, candidates } = task
  const spec: RouterSpec = { inputs: 'hidden', hiddenSize, evidenceSize: 0, width, dropout: 0.3 }
  const parameters = initialiseRouter(spec, 1)
  const dense = createScorer({ spec, parameters })
  const projected = createProjectedScorer({ spec, parameters })
  const rng = createRng(1)
  const h = randomMatrix(candidates, hiddenSize, rng)
  const neighbours = topNeighbours({ vectors: h, k: TOP_K })
  const m = topMean({ vectors: h, neighbours, k: TOP_K })
  const kept = await projected.project(h)
  const selection = new Float32Array(candidates * candidates)
  for (let i = 0; i < candidates; i++) {
    const own = neighbours.subarray(i * TOP_K, (i + 1) * TOP_K).filter((j) => j >= 0)
    for (const j of own) selection[i * candidates + j] = 1 / own.length
  }
  return async () => {
    const q = randomMatrix(1, hiddenSize, rng).data
    const startMs = performance.now()
    const slow = await dense.score({ h, q, m, x: null })
    const denseMs = performance.now() - startMs
    const againMs = performance.now()
    const matrix: Matrix = { data: selection, rows: candidates, cols: candidates }
    const fast = await projected.score({ ...kept, selection: matrix, q, x: null })
    const projectedMs = performance.now() - againMs
    const difference = Math.max(...slow.logits.map((logit, i) => Math.abs(logit - (fast.logits[i] ?? Number.NaN))))
    return { denseMs, projectedMs, difference }
  }
}

/** Private memory before and after: pairs are in memory, vectors are read and not kept. */
export async function openMemoryTask(task: BenchTasks['memory']): Promise<() => Promise<BenchResults['memory']>> {
  return async () => {
    const before = privateBytes()
    const dataset = await readDataset(task.dataset)
    const reader = openVectorReader(dataset.vectors)
    let sum = 0
    for (let row = 0; row < dataset.vectors.rows; row++) sum += reader.read(row)[0] ?? 0
    reader.close()
    const after = privateBytes()
    const { rows, cols } = dataset.vectors
    const bytes = dataset.manifest.representation.storageDtype === 'f16' ? 2 : 4
    return {
      addedBytes: before === null || after === null || Number.isNaN(sum) ? null : after - before,
      vectorBytes: rows * cols * bytes,
    }
  }
}

/** Of this process, without what is only waiting for the garbage collector. */
function privateBytes(): number | null {
  globalThis.gc?.()
  globalThis.gc?.()
  return readProcessMemory(process.pid)?.anonymousBytes ?? null
}

/** Every metric of one predictor over all rotations: each pair is in one test part. */
export async function openMetricsTask(task: BenchTasks['metrics']): Promise<() => Promise<BenchResults['metrics']>> {
  const dataset = await readDataset(task.dataset)
  const parts = assignParts(dataset.trajectories, 1)
  const everyPart = (rotation: number): ReadonlySet<string> =>
    // Part 5 never tests; it joins the last rotation here, so that all pairs are counted.
    new Set(
      [...parts].filter(([, part]) => part === rotation || (rotation === 4 && part === 5)).map(([group]) => group),
    )
  const rng = createRng(1)
  return async () => {
    const startMs = performance.now()
    const tests = ROTATIONS.map((rotation) =>
      createRotationTest(dataset, { rotation, testGroups: everyPart(rotation), resamples: task.resamples, seed: 1 }),
    )
    const rotations = tests.map((test) => {
      const scores = Float64Array.from(test.labels, (label) => label + 2 * rng.nextNormal())
      const points = [{ name: 'fixed', threshold: 0.4, tau: sigmoid(0.4) }]
      return { test, scores, probabilities: scores.map(sigmoid), calibrated: null, operatingPoints: points }
    })
    const context = { pairs: dataset.pairs, scopes: scopesOf(tests.flatMap((test) => test.runs)), seed: 1 }
    measurePredictor({ name: 'bench', kind: 'router', description: 'labels under noise', rotations }, context)
    return { ms: performance.now() - startMs, pairs: tests.reduce((sum, test) => sum + test.rows.length, 0) }
  }
}

function randomMatrix(rows: number, cols: number, rng: Rng): Matrix {
  return { data: Float32Array.from({ length: rows * cols }, () => rng.nextNormal()), rows, cols }
}
