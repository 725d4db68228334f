/** PyTorch float64 golden values (tests/golden/reference/router-training.json): reference and engine against them. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { buildParameters, type TensorName, tensorOf, tensorsOf } from '../../../models/router/parameters.ts'
import type { RouterSpec } from '../../../models/router/spec.ts'
import type { AdamWOptions } from '../../../training/backends/backend.ts'
import type { Batch } from '../../../training/batch.ts'
import {
  maxAbsoluteError,
  type ReferencePairs,
  referenceGradients,
  relativeError,
  type Tensors,
  textbookAdamW,
  zeroTensors,
} from '../../fixtures/router-reference.ts'
import { trainingEngines } from '../../fixtures/training-engines.ts'

const ENGINES = (await trainingEngines()).filter(({ absent }) => absent === null)

interface GoldenTensors {
  readonly Wh: readonly number[]
  readonly Wq: readonly number[]
  readonly Wm: readonly number[]
  readonly b1: readonly number[]
  readonly w2: readonly number[]
  readonly b2: readonly number[]
}

interface Golden {
  readonly d: number
  readonly hidden: number
  readonly rows: number
  readonly batch: number
  readonly X: readonly number[]
  readonly y: readonly number[]
  readonly init: GoldenTensors
  readonly firstLoss: number
  readonly firstGradient: GoldenTensors
  readonly dropoutMask: readonly number[]
  readonly firstLossWithMask: number
  readonly firstGradientWithMask: GoldenTensors
  readonly losses: readonly number[]
  readonly final: GoldenTensors
}

const golden = JSON.parse(
  readFileSync(packageFile('tests', 'golden', 'reference', 'router-training.json'), 'utf8'),
) as Golden
const { d, hidden: H, batch: B } = golden
const spec: RouterSpec = { inputs: 'hidden', hiddenSize: d, evidenceSize: 0, width: H, dropout: 0 }
const specWithDropout: RouterSpec = { ...spec, dropout: 0.3 }
const POSITIVE_WEIGHT = 5
const adamw: AdamWOptions = { learningRate: 0.01, decay: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
const HINT = 'HINT: the golden file stores W as (hidden, d); ours is (d, hidden)'

function fromGolden(tensors: GoldenTensors): Tensors {
  const transposed = (rows: readonly number[]): Float64Array =>
    Float64Array.from({ length: d * H }, (_, i) => rows[(i % H) * d + Math.floor(i / H)] as number)
  return new Map<TensorName, Float64Array>([
    ['weights.h', transposed(tensors.Wh)],
    ['weights.q', transposed(tensors.Wq)],
    ['weights.m', transposed(tensors.Wm)],
    ['b1', Float64Array.from(tensors.b1)],
    ['w2', Float64Array.from(tensors.w2)],
    ['b2', Float64Array.from(tensors.b2)],
  ])
}

const lossWeight = (label: number): number => (label === 1 ? POSITIVE_WEIGHT : 1) / B

function rowsOfStep(step: number): { first: number; labels: readonly number[] } {
  const first = (step % (golden.rows / B)) * B
  return { first, labels: golden.y.slice(first, first + B) }
}

function pairsOfStep(step: number, mask: readonly number[] | null = null): ReferencePairs {
  const { first, labels } = rowsOfStep(step)
  const part = (row: number, block: number): readonly number[] =>
    golden.X.slice((first + row) * 3 * d + block * d, (first + row) * 3 * d + (block + 1) * d)
  return {
    inputs: labels.map((_, row) => ({ h: part(row, 0), q: part(row, 1), m: part(row, 2) })),
    labels,
    weights: labels.map(lossWeight),
    mask,
  }
}

/** The step's rows as one trajectory whose selection matrix is [I I I]. */
function batchOfStep(step: number): Batch {
  const pairs = pairsOfStep(step)
  const selection = new Float32Array(B * 3 * B)
  const selectionTransposed = new Float32Array(B * 3 * B)
  for (let row = 0; row < B; row++)
    for (let block = 0; block < 3; block++) {
      selection[row * 3 * B + block * B + row] = 1
      selectionTransposed[(block * B + row) * B + row] = 1
    }
  const values = (name: 'h' | 'q' | 'm'): Float32Array =>
    Float32Array.from(pairs.inputs.flatMap((inputs) => Array.from(inputs[name] ?? [])))
  return {
    trajectories: 1,
    pairs: B,
    blocks: (['h', 'q', 'm'] as const).map((name) => ({ name, rows: B, values: values(name) })),
    selection,
    selectionTransposed,
    evidence: null,
    labels: Float32Array.from(pairs.labels),
    weights: Float32Array.from(pairs.weights),
    pairIndex: Int32Array.from({ length: B }, (_, i) => i),
  }
}

const initial = fromGolden(golden.init)
const initialF32 = buildParameters(spec, ({ name }) => Float32Array.from(initial.get(name) as Float64Array))

describe('the float64 reference against PyTorch', () => {
  it.each([
    ['without a mask', null, golden.firstLoss, golden.firstGradient],
    ['with a dropout mask', golden.dropoutMask, golden.firstLossWithMask, golden.firstGradientWithMask],
  ] as const)('has the same first loss and gradient %s to 2e-12', (_, mask, loss, gradient) => {
    const own = referenceGradients(mask === null ? spec : specWithDropout, initial, pairsOfStep(0, mask))
    expect(Math.abs(own.loss - loss)).toBeLessThanOrEqual(2e-12)
    for (const [name, expected] of fromGolden(gradient))
      expect(
        maxAbsoluteError(own.gradients.get(name) as Float64Array, expected),
        `${name}; ${HINT}`,
      ).toBeLessThanOrEqual(2e-12)
  })

  it('has the same 36 losses to 2e-12 and final parameters to 1e-11', () => {
    const tensors = fromGolden(golden.init)
    const moments = { first: zeroTensors(spec), second: zeroTensors(spec) }
    golden.losses.forEach((expected, s) => {
      const { loss, gradients } = referenceGradients(spec, tensors, pairsOfStep(s))
      expect(Math.abs(loss - expected), `loss of step ${s}`).toBeLessThanOrEqual(2e-12)
      textbookAdamW({ spec, tensors, gradients, moments, t: s + 1, adamw })
    })
    for (const [name, expected] of fromGolden(golden.final))
      expect(maxAbsoluteError(tensors.get(name) as Float64Array, expected), name).toBeLessThanOrEqual(1e-11)
  })
})

describe.each(ENGINES)('engine $name, in float32, against PyTorch', ({ create }) => {
  it.each([
    ['without a mask', spec, null, golden.firstLoss, golden.firstGradient],
    [
      'with a dropout mask',
      specWithDropout,
      golden.dropoutMask,
      golden.firstLossWithMask,
      golden.firstGradientWithMask,
    ],
  ] as const)('has the same first loss and gradient %s to 1e-5 relative', async (_, own, mask, loss, gradient) => {
    const backend = await create({ spec: own, parameters: initialF32, adamw })
    const result = await backend.gradients(batchOfStep(0), mask === null ? null : Float32Array.from(mask))
    expect(Math.abs(result.loss / loss - 1)).toBeLessThanOrEqual(1e-5)
    for (const [name, expected] of fromGolden(gradient))
      expect(relativeError(tensorOf(result.gradients, name), expected), `${name}; ${HINT}`).toBeLessThanOrEqual(1e-5)
    await backend.close()
  })

  it('has the same 36 losses to 1e-5 relative and final parameters to 1e-4', async () => {
    const backend = await create({ spec, parameters: initialF32, adamw })
    for (const [s, expected] of golden.losses.entries()) {
      const loss = await backend.step(batchOfStep(s), null)
      expect(Math.abs(loss / expected - 1), `loss of step ${s}`).toBeLessThanOrEqual(1e-5)
    }
    const { parameters } = backend.exportState()
    const final = fromGolden(golden.final)
    for (const { name } of tensorsOf(spec))
      expect(maxAbsoluteError(tensorOf(parameters, name), final.get(name) as Float64Array), name).toBeLessThanOrEqual(
        1e-4,
      )
    await backend.close()
  })
})
