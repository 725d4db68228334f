/** What every training engine must do; so far there is one. */
import { describe, expect, it } from 'vitest'
import { forwardLogit } from '../../models/router/forward.ts'
import { initialiseRouter } from '../../models/router/initialise.ts'
import { tensorOf, tensorsOf } from '../../models/router/parameters.ts'
import type { InputKind, RouterSpec } from '../../models/router/spec.ts'
import { createRng } from '../../src/rng.ts'
import type { AdamWOptions, TrainerBackend } from '../../training/backends/backend.ts'
import { createOrtBackend } from '../../training/backends/ort.ts'
import { type Batch, buildBatch, createBatchSource } from '../../training/batch.ts'
import { dropoutMask } from '../../training/dropout-mask.ts'
import { pairsOfGroups } from '../../training/split-pairs.ts'
import { standardise } from '../../training/standardise.ts'
import {
  centralDifferences,
  maxAbsoluteError,
  pairsOfBatch,
  referenceGradients,
  relativeError,
  textbookAdamW,
  toTensors,
  zeroTensors,
} from '../fixtures/router-reference.ts'
import { syntheticDataset } from '../fixtures/synthetic-dataset.ts'

const ENGINES = [{ name: 'ort-cpu', create: createOrtBackend }] as const
const dataset = syntheticDataset({ groups: 6, hiddenSize: 5, minLength: 4, maxLength: 7 })
const trajectories = pairsOfGroups(dataset, new Set(dataset.trajectories.map(({ group }) => group)))
const adamw: AdamWOptions = { learningRate: 0.01, decay: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }

interface Case {
  readonly inputs: InputKind
  readonly width: number
  readonly dropout: number
}
const CASES: readonly Case[] = (['hidden', 'hidden+evidence', 'evidence'] as const).flatMap((inputs) => [
  { inputs, width: 6, dropout: 0 },
  { inputs, width: 6, dropout: 0.3 },
  { inputs, width: 0, dropout: 0 },
])

function specOf({ inputs, width, dropout }: Case): RouterSpec {
  return {
    inputs,
    hiddenSize: inputs === 'evidence' ? 0 : dataset.vectors.cols,
    evidenceSize: inputs === 'hidden' ? 0 : dataset.pairs.evidenceSize,
    width,
    dropout,
  }
}

/** Four runs of different lengths, so that pairs and vectors are padded; the batch of step s holds other pairs. */
function batchOf(spec: RouterSpec, step = 0): Batch {
  const standardisation = standardise({ dataset, spec, trajectories, positiveWeight: 5 })
  const source = createBatchSource({ dataset, spec, standardisation })
  const slots = [0, 1, 2, 3].map(
    (t) => trajectories[(t + step) % trajectories.length]?.slice(0, 3 + 2 * t + step) ?? [],
  )
  return buildBatch(source, slots, { positiveWeight: 5 })
}

function maskOf(spec: RouterSpec, batch: Batch, seed = 3): Float32Array | null {
  const size = batch.trajectories * batch.pairs * spec.width
  return spec.dropout === 0 ? null : dropoutMask(size, spec.dropout, createRng(seed))
}

describe.each(ENGINES)('training engine $name', ({ create }) => {
  const open = (spec: RouterSpec): Promise<TrainerBackend> =>
    create({ spec, parameters: initialiseRouter(spec, 7), adamw })

  it.each(CASES)(
    'has gradients equal to float64 central differences ($inputs, width $width, dropout $dropout)',
    async (one) => {
      const spec = specOf(one)
      const batch = batchOf(spec)
      expect(new Set(batch.pairIndex).has(-1), 'the batch is padded').toBe(true)
      const mask = maskOf(spec, batch)
      const backend = await open(spec)
      const { loss, gradients } = await backend.gradients(batch, mask)
      const tensors = toTensors(spec, initialiseRouter(spec, 7))
      const pairs = pairsOfBatch(batch, mask, spec.width)
      expect(Math.abs(loss / referenceGradients(spec, tensors, pairs).loss - 1)).toBeLessThan(1e-6)
      const expected = centralDifferences(spec, tensors, pairs)
      for (const { name } of tensorsOf(spec))
        expect(relativeError(tensorOf(gradients, name), expected.get(name) as Float64Array), name).toBeLessThan(1e-5)
      await backend.close()
    },
  )

  it.each(CASES)(
    'follows a textbook AdamW in float64 over 36 steps ($inputs, width $width, dropout $dropout)',
    async (one) => {
      const spec = specOf(one)
      const backend = await open(spec)
      const tensors = toTensors(spec, initialiseRouter(spec, 7))
      const moments = { first: zeroTensors(spec), second: zeroTensors(spec) }
      for (let step = 0; step < 36; step++) {
        const batch = batchOf(spec, step % 5)
        const mask = maskOf(spec, batch, step)
        const { loss, gradients } = referenceGradients(spec, tensors, pairsOfBatch(batch, mask, spec.width))
        expect(Math.abs((await backend.step(batch, mask)) / loss - 1), `loss of step ${step}`).toBeLessThan(1e-4)
        textbookAdamW({ spec, tensors, gradients, moments, t: step + 1, adamw })
      }
      const { parameters, step } = backend.exportState()
      expect(step).toBe(36)
      // Adam divides by small gradients, so single precision shows most in dimensions that hardly matter.
      for (const { name } of tensorsOf(spec))
        expect(maxAbsoluteError(tensorOf(parameters, name), tensors.get(name) as Float64Array), name).toBeLessThan(1e-3)
      await backend.close()
    },
  )

  it.each(CASES.filter(({ dropout }) => dropout === 0))(
    'has the logits of the float64 forward pass ($inputs, width $width)',
    async (one) => {
      const spec = specOf(one)
      const batch = batchOf(spec)
      const backend = await open(spec)
      const logits = await backend.logits(batch)
      const { inputs } = pairsOfBatch(batch, null, 0)
      const real = [...batch.pairIndex.keys()].filter((row) => batch.pairIndex[row] !== -1)
      expect(
        maxAbsoluteError(
          real.map((row) => logits[row] as number),
          inputs.map((pair) => forwardLogit(spec, initialiseRouter(spec, 7), pair)),
        ),
      ).toBeLessThan(1e-5)
      await backend.close()
    },
  )

  it('goes on bit for bit from an exported state', async () => {
    const spec = specOf({ inputs: 'hidden+evidence', width: 6, dropout: 0.3 })
    const [straight, first, second] = await Promise.all([open(spec), open(spec), open(spec)])
    const train = async (backend: TrainerBackend, steps: readonly number[]): Promise<void> => {
      for (const step of steps) {
        const batch = batchOf(spec, step)
        await backend.step(batch, maskOf(spec, batch, step))
      }
    }
    await train(straight, [0, 1, 2, 3])
    await train(first, [0, 1])
    second.importState(structuredClone(first.exportState()))
    await train(second, [2, 3])
    expect(second.exportState()).toEqual(straight.exportState())
    await Promise.all([straight.close(), first.close(), second.close()])
  })

  it('refuses a mask that its spec does not ask for, and the lack of one that it does', async () => {
    const plain = specOf({ inputs: 'evidence', width: 6, dropout: 0 })
    const dropping = { ...plain, dropout: 0.3 }
    const [withoutMask, withMask] = await Promise.all([open(plain), open(dropping)])
    const batch = batchOf(plain)
    await expect(withoutMask.step(batch, maskOf(dropping, batch))).rejects.toMatchObject({ code: 'invariant' })
    await expect(withMask.step(batch, null)).rejects.toMatchObject({ code: 'invariant' })
    await Promise.all([withoutMask.close(), withMask.close()])
  })

  it('refuses a router that does not fit into its memory', async () => {
    const spec: RouterSpec = { inputs: 'hidden', hiddenSize: 50_000, evidenceSize: 0, width: 4096, dropout: 0 }
    const parameters = { weights: {}, b1: new Float32Array(0), w2: new Float32Array(0), b2: new Float32Array(0) }
    await expect(create({ spec, parameters, adamw })).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('--width'),
    })
  })
})
