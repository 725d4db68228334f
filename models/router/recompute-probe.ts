/**
 * Logits of probe rows by every way this project has to compute them.
 */
import type { Matrix } from '../../src/tensor/matrix.ts'
import { forwardLogit } from './forward.ts'
import { type ProbeRows, probeRow } from './probe.ts'
import { createProjectedScorer } from './projected-scorer.ts'
import { createScorer } from './scorer.ts'
import type { BlockName, RouterParameters, RouterSpec } from './spec.ts'

interface Router {
  readonly spec: RouterSpec
  readonly parameters: RouterParameters
}

/** projected: the scorer with kept projections; null for a router that reads no vectors. */
export interface RecomputedProbe {
  readonly dense: Float32Array
  readonly projected: Float32Array | null
  readonly float64: Float64Array
}

/** @throws session-failed, output-not-finite */
export async function recomputeProbe(router: Router, probe: ProbeRows): Promise<RecomputedProbe> {
  return {
    float64: Float64Array.from(probe.logits, (_, row) =>
      forwardLogit(router.spec, router.parameters, probeRow(router.spec, probe, row)),
    ),
    dense: await denseLogits(router, probe),
    projected: router.spec.inputs === 'evidence' ? null : await projectedLogits(router, probe),
  }
}

/** Row by row: each probe row is of a checkpoint of its own. */
async function denseLogits(router: Router, probe: ProbeRows): Promise<Float32Array> {
  const scorer = createScorer(router)
  try {
    const logits = new Float32Array(probe.logits.length)
    for (let row = 0; row < logits.length; row++) {
      const own = probeRow(router.spec, probe, row)
      const scores = await scorer.score({
        h: asMatrix(own.h),
        q: own.q ?? null,
        m: asMatrix(own.m),
        x: asMatrix(own.x),
      })
      logits[row] = scores.logits[0] as number
    }
    return logits
  } finally {
    await scorer.close()
  }
}

/** All vectors are projected at once; m goes through the neighbours' projection as a mean of one. */
async function projectedLogits(router: Router, probe: ProbeRows): Promise<Float32Array> {
  const scorer = createProjectedScorer(router)
  try {
    const candidates = (await scorer.project(blockOf(probe, 'h'))).candidates
    const { neighbours } = await scorer.project(blockOf(probe, 'm'))
    const logits = new Float32Array(probe.logits.length)
    for (let row = 0; row < logits.length; row++) {
      const own = probeRow(router.spec, probe, row)
      const selection = { data: new Float32Array(neighbours.rows), rows: 1, cols: neighbours.rows }
      selection.data[row] = 1
      const scores = await scorer.score({
        candidates: rowMatrix(candidates, row),
        neighbours,
        selection,
        q: own.q ?? new Float32Array(0),
        x: asMatrix(own.x),
      })
      logits[row] = scores.logits[0] as number
    }
    return logits
  } finally {
    await scorer.close()
  }
}

function blockOf(probe: ProbeRows, name: BlockName): Matrix {
  return probe.inputs[name] ?? { data: new Float32Array(0), rows: 0, cols: 0 }
}

function rowMatrix({ data, cols }: Matrix, row: number): Matrix {
  return { data: data.subarray(row * cols, (row + 1) * cols), rows: 1, cols }
}

function asMatrix(values: Float32Array | undefined): Matrix | null {
  return values === undefined ? null : { data: values, rows: 1, cols: values.length }
}

/** Largest |actual - expected| / max(1, |expected|), and the row it is at. */
export function largestDifference(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
): { readonly relative: number; readonly row: number } {
  let largest = { relative: 0, row: 0 }
  for (let row = 0; row < expected.length; row++) {
    const own = expected[row] as number
    const relative = Math.abs((actual[row] as number) - own) / Math.max(1, Math.abs(own))
    if (!(relative <= largest.relative)) largest = { relative, row }
  }
  return largest
}
