import { describe, expect, it } from 'vitest'
import { forwardLogit } from '../../../../models/router/forward.ts'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import { copyParameters, parameterCount, tensorOf, tensorsOf } from '../../../../models/router/parameters.ts'
import { createScorer } from '../../../../models/router/scorer.ts'
import { INPUT_KINDS, type RouterSpec } from '../../../../models/router/spec.ts'
import { foldStandardisation, unfoldStandardisation } from '../../../../models/router/standardisation.ts'
import { createRng } from '../../../../src/rng.ts'
import { createMatrix, type Matrix, rowOf } from '../../../../src/tensor/matrix.ts'

const D = 24
const X = 7
const N = 11

function random(rows: number, cols: number, seed: number, centre = 0): Matrix {
  const rng = createRng(seed)
  const matrix = createMatrix(rows, cols)
  for (let i = 0; i < matrix.data.length; i++) matrix.data[i] = centre + rng.nextNormal()
  return matrix
}

const inputs = { h: random(N, D, 1), q: random(1, D, 2).data, m: random(N, D, 3), x: random(N, X, 4) }
const specs = INPUT_KINDS.flatMap((kind) =>
  [32, 0].map(
    (width): RouterSpec => ({
      inputs: kind,
      hiddenSize: kind === 'evidence' ? 0 : D,
      evidenceSize: kind === 'hidden' ? 0 : X,
      width,
      dropout: 0.3,
    }),
  ),
)
const pairOf = (i: number, from = inputs) => ({
  h: rowOf(from.h, i),
  q: from.q,
  m: rowOf(from.m, i),
  x: rowOf(from.x, i),
})

describe('createScorer', () => {
  it.each(specs)('equals the float64 forward pass to 1e-5 ($inputs, width $width)', async (spec) => {
    const parameters = initialiseRouter(spec, 5)
    const scorer = createScorer({ spec, parameters })
    const { logits } = await scorer.score(inputs)
    expect(logits).toHaveLength(N)
    for (let i = 0; i < N; i++)
      expect(Math.abs((logits[i] as number) - forwardLogit(spec, parameters, pairOf(i)))).toBeLessThan(1e-5)
    await scorer.close()
  })

  it('scores a target the same alone and among others', async () => {
    const spec = specs[2] as RouterSpec
    const scorer = createScorer({ spec, parameters: initialiseRouter(spec, 5) })
    const all = await scorer.score(inputs)
    const one = (matrix: Matrix, i: number): Matrix => ({ data: rowOf(matrix, i), rows: 1, cols: matrix.cols })
    for (let i = 0; i < N; i++) {
      const alone = await scorer.score({ ...inputs, h: one(inputs.h, i), m: one(inputs.m, i), x: one(inputs.x, i) })
      expect(alone.logits[0]).toBeCloseTo(all.logits[i] as number, 5)
    }
    await scorer.close()
  })

  it('gives no logits for no targets', async () => {
    const spec = specs[0] as RouterSpec
    const scorer = createScorer({ spec, parameters: initialiseRouter(spec, 5) })
    const empty = createMatrix(0, D)
    expect((await scorer.score({ h: empty, q: inputs.q, m: empty, x: null })).logits).toHaveLength(0)
  })

  it('names a block that is missing, of another size, or of another number of rows', async () => {
    const spec = specs[0] as RouterSpec
    const scorer = createScorer({ spec, parameters: initialiseRouter(spec, 5) })
    const refused = async (changed: object, text: string): Promise<void> =>
      expect(scorer.score({ ...inputs, ...changed })).rejects.toMatchObject({
        code: 'tensor-mismatch',
        message: expect.stringContaining(text),
      })
    await refused({ m: null }, 'needs block m')
    await refused({ q: new Float32Array(5) }, 'block q has 5 values')
    await refused({ m: createMatrix(3, D) }, 'block m has 3 rows')
  })

  it('names a graph that does not load: parameters of another spec', async () => {
    const spec = specs[0] as RouterSpec
    const parameters = { ...initialiseRouter(spec, 5), w2: new Float32Array(3) }
    await expect(createScorer({ spec, parameters }).score(inputs)).rejects.toMatchObject({ code: 'session-failed' })
  })

  it('refuses inputs that are not finite instead of scoring them', async () => {
    const spec = specs[4] as RouterSpec
    const scorer = createScorer({ spec, parameters: initialiseRouter(spec, 5) })
    const x = { ...inputs.x, data: inputs.x.data.map((value, i) => (i === 9 ? Number.POSITIVE_INFINITY : value)) }
    await expect(scorer.score({ ...inputs, x })).rejects.toMatchObject({ code: 'output-not-finite' })
    await scorer.close()
  })
})

describe('foldStandardisation', () => {
  it.each(specs)('takes raw inputs to the logits of standardised ones ($inputs, width $width)', (spec) => {
    const parameters = initialiseRouter(spec, 6)
    const rng = createRng(8)
    const affine = (size: number) => ({
      mean: Float64Array.from({ length: size }, () => 10 * rng.nextNormal()),
      std: Float64Array.from({ length: size }, () => 0.1 + rng.nextFloat()),
    })
    const standardisation = { h: affine(D), q: affine(D), m: affine(D), x: affine(X) }
    const before = copyParameters(spec, parameters)
    const folded = foldStandardisation({ spec, parameters, standardisation })
    for (let i = 0; i < N; i++) {
      const raw = pairOf(i)
      const standardised = Object.fromEntries(
        Object.entries(raw).map(([block, values]) => {
          const { mean, std } = standardisation[block as keyof typeof raw]
          return [block, Float64Array.from(values, (value, k) => (value - (mean[k] ?? 0)) / (std[k] ?? 1))]
        }),
      )
      const expected = forwardLogit(spec, parameters, standardised)
      // Only the rounding of W / std and of the bias to f32 is left.
      expect(Math.abs(forwardLogit(spec, folded, raw) - expected)).toBeLessThan(
        2e-6 * Math.max(1, Math.abs(expected)) * 10,
      )
    }
    expect(parameters).toEqual(before)
  })
})

describe('unfoldStandardisation', () => {
  it.each(specs)('gives back what was folded, to one rounding ($inputs, width $width)', (spec) => {
    const parameters = initialiseRouter(spec, 6)
    const rng = createRng(8)
    const affine = (size: number) => ({
      mean: Float64Array.from({ length: size }, () => 10 * rng.nextNormal()),
      std: Float64Array.from({ length: size }, () => 0.1 + rng.nextFloat()),
    })
    const standardisation = { h: affine(D), q: affine(D), m: affine(D), x: affine(X) }
    const folded = foldStandardisation({ spec, parameters, standardisation })
    const back = unfoldStandardisation({ spec, parameters: folded, standardisation })
    for (const { name } of tensorsOf(spec)) {
      // Biases hold a sum of terms up to 10 times a weight.
      const tolerance = name.startsWith('weights.') ? 2 ** -22 : 1e-5
      tensorOf(back, name).forEach((value, i) => {
        expect(Math.abs(value - (tensorOf(parameters, name)[i] as number))).toBeLessThanOrEqual(tolerance)
      })
    }
  })
})

describe('initialiseRouter', () => {
  it('is seeded, has zero biases, and lets every block speak as loudly', () => {
    const spec: RouterSpec = { inputs: 'hidden+evidence', hiddenSize: 400, evidenceSize: 10, width: 64, dropout: 0 }
    const parameters = initialiseRouter(spec, 1)
    expect(initialiseRouter(spec, 1)).toEqual(parameters)
    expect(initialiseRouter(spec, 2)).not.toEqual(parameters)
    expect([...parameters.b1, ...parameters.b2].every((value) => value === 0)).toBe(true)
    for (const [block, size] of [
      ['h', 400],
      ['x', 10],
    ] as const) {
      const squares = tensorOf(parameters, `weights.${block}`).reduce((sum, value) => sum + value * value, 0)
      // size * H values of variance 1 / (3 * 4 blocks * size).
      expect(squares / (64 / 12)).toBeGreaterThan(0.85)
      expect(squares / (64 / 12)).toBeLessThan(1.15)
      expect(tensorOf(parameters, `weights.${block}`)).toHaveLength(size * 64)
    }
    expect(parameterCount(spec)).toBe(tensorsOf(spec).reduce((sum, { size }) => sum + size, 0))
  })

  it('refuses a spec without the size of a block it reads', () => {
    const spec: RouterSpec = { inputs: 'evidence', hiddenSize: 0, evidenceSize: 0, width: 4, dropout: 0 }
    expect(() => initialiseRouter(spec, 1)).toThrowError(expect.objectContaining({ code: 'invariant' }))
  })
})
