/**
 * Scores the targets of a checkpoint from projections that are kept: an interaction's vector goes through the first layer
 * once, whatever number of checkpoints it is a target of. Equal to scorer.ts up to the rounding of float32 sums.
 * For routers that read hidden states; one that reads evidence alone has nothing to keep.
 */
import { AppError } from '../../src/errors.ts'
import type { Matrix } from '../../src/tensor/matrix.ts'
import { firstLayerColumns } from './parameters.ts'
import { projectedScoreGraph, projectionGraph } from './projected-graphs.ts'
import { finiteLogits, openRouterSession, type RouterSession } from './router-session.ts'
import { LOGITS } from './score-graph.ts'
import type { RouterParameters, RouterSpec } from './spec.ts'

export interface Projections {
  /** (N, H) V Wh: what each vector gives as the target. */
  readonly candidates: Matrix
  /** (N, H) V Wm: what each vector gives as one whose mean is m. */
  readonly neighbours: Matrix
}

export interface ProjectedInputs {
  /** (N, H) of the targets, in order. */
  readonly candidates: Matrix
  /** (M, H) of the vectors that the means are of. */
  readonly neighbours: Matrix
  /** (N, M) share of each neighbour in m of each target: 1/k for k neighbours; a row of zeros for m = 0. */
  readonly selection: Matrix
  /** (d) state vector of the checkpoint. */
  readonly q: Float32Array
  /** (N, X); null for a router that does not read evidence. */
  readonly x: Matrix | null
}

export interface ProjectedScorer {
  readonly spec: RouterSpec
  /** @param vectors (N, d) h. @throws tensor-mismatch, session-failed */
  project(vectors: Matrix): Promise<Projections>
  /** @throws tensor-mismatch, output-not-finite, session-failed */
  score(inputs: ProjectedInputs): Promise<{ readonly logits: Float32Array }>
  close(): Promise<void>
}

/** Sessions are made at their first call. @throws tensor-mismatch for a router of inputs = evidence */
export function createProjectedScorer(router: {
  readonly spec: RouterSpec
  readonly parameters: RouterParameters
}): ProjectedScorer {
  const { spec, parameters } = router
  if (spec.inputs === 'evidence')
    throw new AppError('tensor-mismatch', 'a router of inputs evidence reads no vectors to project: use its scorer')
  const columns = firstLayerColumns(spec)
  let projecting: Promise<RouterSession> | null = null
  let scoring: Promise<RouterSession> | null = null
  return {
    spec,
    async project(vectors) {
      requireShape('vectors', vectors, { rows: vectors.rows, cols: spec.hiddenSize })
      if (vectors.rows === 0) return { candidates: empty(columns), neighbours: empty(columns) }
      projecting ??= openRouterSession(projectionGraph(spec, parameters))
      const outputs = await (await projecting).run({ vectors })
      const matrix = (name: string): Matrix => ({
        data: outputs[name]?.data as Float32Array,
        rows: vectors.rows,
        cols: columns,
      })
      return { candidates: matrix('candidates'), neighbours: matrix('neighbours') }
    },
    async score(inputs) {
      const { candidates, neighbours, selection, x } = inputs
      const q: Matrix = { data: inputs.q, rows: 1, cols: inputs.q.length }
      requireShape('candidates', candidates, { rows: candidates.rows, cols: columns })
      requireShape('neighbours', neighbours, { rows: neighbours.rows, cols: columns })
      requireShape('selection', selection, { rows: candidates.rows, cols: neighbours.rows })
      requireShape('q', q, { rows: 1, cols: spec.hiddenSize })
      if (candidates.rows === 0) return { logits: new Float32Array(0) }
      const feeds: Record<string, Matrix> = { candidates, neighbours, selection, q }
      if (spec.inputs === 'hidden+evidence') {
        if (x === null) throw new AppError('tensor-mismatch', `a router of inputs ${spec.inputs} needs block x`)
        requireShape('x', x, { rows: candidates.rows, cols: spec.evidenceSize })
        feeds.x = x
      }
      scoring ??= openRouterSession(projectedScoreGraph(spec, parameters))
      const outputs = await (await scoring).run(feeds)
      return { logits: finiteLogits(outputs[LOGITS]) }
    },
    async close() {
      await (await projecting)?.close()
      await (await scoring)?.close()
      projecting = null
      scoring = null
    },
  }
}

function empty(cols: number): Matrix {
  return { data: new Float32Array(0), rows: 0, cols }
}

function requireShape(name: string, matrix: Matrix, expected: { readonly rows: number; readonly cols: number }): void {
  if (
    matrix.rows === expected.rows &&
    matrix.cols === expected.cols &&
    matrix.data.length === matrix.rows * matrix.cols
  )
    return
  throw new AppError(
    'tensor-mismatch',
    `router input ${name} is (${matrix.rows}, ${matrix.cols}) with ${matrix.data.length} values, (${expected.rows}, ${expected.cols}) is needed`,
  )
}
