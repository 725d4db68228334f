import { describe, expect, it } from 'vitest'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import { createProjectedScorer } from '../../../../models/router/projected-scorer.ts'
import { createScorer } from '../../../../models/router/scorer.ts'
import type { RouterSpec } from '../../../../models/router/spec.ts'
import { createRng } from '../../../../src/rng.ts'
import { topMean, topNeighbours } from '../../../../src/router/top-mean.ts'
import { createMatrix, type Matrix } from '../../../../src/tensor/matrix.ts'

const D = 24
const X = 7
const N = 11
const K = 4

function random(rows: number, cols: number, seed: number): Matrix {
  const rng = createRng(seed)
  const matrix = createMatrix(rows, cols)
  for (let i = 0; i < matrix.data.length; i++) matrix.data[i] = rng.nextNormal()
  return matrix
}

const h = random(N, D, 1)
const q = random(1, D, 2).data
const x = random(N, X, 3)
const neighbours = topNeighbours({ vectors: h, k: K })
const selection = createMatrix(N, N)
for (let i = 0; i < N; i++)
  for (let k = 0; k < K; k++) selection.data[i * N + (neighbours[i * K + k] as number)] = 1 / K

const specs = (['hidden', 'hidden+evidence'] as const).flatMap((inputs) =>
  [32, 0].map(
    (width): RouterSpec => ({
      inputs,
      hiddenSize: D,
      evidenceSize: inputs === 'hidden' ? 0 : X,
      width,
      dropout: 0,
    }),
  ),
)

describe('createProjectedScorer', () => {
  it.each(specs)('gives the logits of the dense pass from kept projections ($inputs, width $width)', async (spec) => {
    const router = { spec, parameters: initialiseRouter(spec, 5) }
    const dense = createScorer(router)
    const projected = createProjectedScorer(router)
    const kept = await projected.project(h)
    // Two states over the same projections: what they are kept for.
    for (const state of [q, random(1, D, 9).data]) {
      const expected = await dense.score({ h, q: state, m: topMean({ vectors: h, neighbours, k: K }), x })
      const { logits } = await projected.score({ ...kept, selection, q: state, x })
      expect(logits).toHaveLength(N)
      logits.forEach((logit, i) => {
        expect(Math.abs(logit - (expected.logits[i] as number))).toBeLessThan(2e-6)
      })
    }
    await dense.close()
    await projected.close()
  })

  it('scores no targets as none', async () => {
    const spec = specs[0] as RouterSpec
    const scorer = createProjectedScorer({ spec, parameters: initialiseRouter(spec, 5) })
    const kept = await scorer.project(createMatrix(0, D))
    expect(kept.candidates).toMatchObject({ rows: 0, cols: 32 })
    const { logits } = await scorer.score({ ...kept, selection: createMatrix(0, 0), q, x: null })
    expect(logits).toHaveLength(0)
    await scorer.close()
  })

  it('names what has another size or is missing, and refuses a router without vectors', async () => {
    const spec = specs[2] as RouterSpec
    const scorer = createProjectedScorer({ spec, parameters: initialiseRouter(spec, 5) })
    const kept = await scorer.project(h)
    const refused = (changed: object, text: string): Promise<void> =>
      expect(scorer.score({ ...kept, selection, q, x, ...changed })).rejects.toMatchObject({
        code: 'tensor-mismatch',
        message: expect.stringContaining(text),
      })
    await refused({ selection: createMatrix(N, 3) }, 'selection is (11, 3)')
    await refused({ q: new Float32Array(3) }, 'q is (1, 3)')
    await refused({ x: null }, 'needs block x')
    await refused({ x: createMatrix(2, X) }, 'x is (2, 7)')
    await expect(scorer.project(createMatrix(2, D + 1))).rejects.toMatchObject({ code: 'tensor-mismatch' })
    await scorer.close()
    const evidence: RouterSpec = { inputs: 'evidence', hiddenSize: 0, evidenceSize: X, width: 4, dropout: 0 }
    expect(() => createProjectedScorer({ spec: evidence, parameters: initialiseRouter(evidence, 1) })).toThrowError(
      expect.objectContaining({ code: 'tensor-mismatch' }),
    )
  })
})
