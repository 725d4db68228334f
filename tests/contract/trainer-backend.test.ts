/** What every training engine must do. Engines that this machine lacks are named and skipped. */
import { describe, expect, it } from 'vitest'
import { forwardLogit } from '../../models/router/forward.ts'
import { initialiseRouter } from '../../models/router/initialise.ts'
import { tensorOf, tensorsOf } from '../../models/router/parameters.ts'
import type { InputKind, RouterParameters, RouterSpec } from '../../models/router/spec.ts'
import { createRng } from '../../src/rng.ts'
import type { AdamWOptions, TrainerBackend } from '../../training/backends/backend.ts'
import { createOrtBackend } from '../../training/backends/ort.ts'
import { type Batch, type BatchSource, buildBatch, createBatchSource } from '../../training/batch.ts'
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
import { trainingEngines } from '../fixtures/training-engines.ts'

const ENGINES = await trainingEngines()
const PRESENT = ENGINES.filter(({ absent }) => absent === null)
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

function sourceOf(spec: RouterSpec): BatchSource {
  const standardisation = standardise({ dataset, spec, trajectories, positiveWeight: 5 })
  return createBatchSource({ dataset, spec, standardisation })
}

/** Four runs of different lengths, so that pairs and vectors are padded; the batch of step s holds other pairs. */
function batchOf(spec: RouterSpec, step = 0): Batch {
  const source = sourceOf(spec)
  const slots = [0, 1, 2, 3].map(
    (t) => trajectories[(t + step) % trajectories.length]?.slice(0, 3 + 2 * t + step) ?? [],
  )
  return buildBatch(source, slots, { positiveWeight: 5 })
}

function maskOf(spec: RouterSpec, batch: Batch, seed = 3): Float32Array | null {
  const size = batch.trajectories * batch.pairs * spec.width
  return spec.dropout === 0 ? null : dropoutMask(size, spec.dropout, createRng(seed))
}

describe('training engines', () => {
  it('include ort-cpu and tfjs-wasm on every machine that develops keepready', () => {
    expect(PRESENT.map(({ name }) => name)).toEqual(expect.arrayContaining(['ort-cpu', 'tfjs-wasm']))
  })

  it.skip.each(ENGINES.filter(({ absent }) => absent !== null))('leave out $name, which $absent', () => {})
})

describe.each(PRESENT)('training engine $name', ({ name: engine, create, liveTensors }) => {
  const open = (spec: RouterSpec): Promise<TrainerBackend> =>
    create({ spec, parameters: initialiseRouter(spec, 7), adamw })
  const openReference = (spec: RouterSpec): Promise<TrainerBackend> =>
    createOrtBackend({ spec, parameters: initialiseRouter(spec, 7), adamw })
  const train = async (backend: TrainerBackend, spec: RouterSpec, steps: readonly number[]): Promise<void> => {
    for (const step of steps) {
      const batch = batchOf(spec, step)
      await backend.step(batch, maskOf(spec, batch, step))
    }
  }

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

  it('follows ort-cpu over 36 steps and has its gradients behind them', async () => {
    const spec: RouterSpec = { ...specOf({ inputs: 'hidden+evidence', width: 0, dropout: 0.3 }), width: 64 }
    const [backend, reference] = await Promise.all([open(spec), openReference(spec)])
    for (let step = 0; step < 36; step++) {
      const batch = batchOf(spec, step % 5)
      const mask = maskOf(spec, batch, step)
      const expected = await reference.step(batch, mask)
      expect(Math.abs((await backend.step(batch, mask)) / expected - 1), `loss of step ${step}`).toBeLessThan(1e-4)
    }
    backend.importState(reference.exportState())
    const batch = batchOf(spec)
    const mask = maskOf(spec, batch)
    const [own, expected] = [await backend.gradients(batch, mask), await reference.gradients(batch, mask)]
    for (const { name } of tensorsOf(spec))
      expect(
        relativeError(tensorOf(own.gradients, name), tensorOf(expected.gradients, name)),
        `${engine} ${name}`,
      ).toBeLessThan(1e-5)
    await Promise.all([backend.close(), reference.close()])
  })

  it('goes on from an exported state as if nothing had happened, bit for bit where it is deterministic', async () => {
    const spec = specOf({ inputs: 'hidden+evidence', width: 6, dropout: 0.3 })
    const [straight, first, second] = await Promise.all([open(spec), open(spec), open(spec)])
    await train(straight, spec, [0, 1, 2, 3])
    await train(first, spec, [0, 1])
    second.importState(structuredClone(first.exportState()))
    await train(second, spec, [2, 3])
    const [resumed, expected] = [second.exportState(), straight.exportState()]
    if (straight.deterministic) expect(resumed).toEqual(expected)
    expect(resumed.step).toBe(4)
    for (const { name } of tensorsOf(spec))
      expect(
        maxAbsoluteError(tensorOf(resumed.parameters, name), tensorOf(expected.parameters, name)),
        name,
      ).toBeLessThan(1e-3)
    await Promise.all([straight.close(), first.close(), second.close()])
  })

  it('gives the same bits twice where it says so', async () => {
    const spec = specOf({ inputs: 'hidden', width: 40, dropout: 0.3 })
    const [one, two] = await Promise.all([open(spec), open(spec)])
    for (const backend of [one, two]) await train(backend, spec, [0, 1, 2, 3, 4, 5])
    if (one.deterministic) expect(two.exportState()).toEqual(one.exportState())
    else expect(engine, 'only engines on a GPU may sum in any order').toMatch(/cuda|gpu/)
    await Promise.all([one.close(), two.close()])
  })

  it('keeps what it gave out: later steps change no exported state', async () => {
    const spec = specOf({ inputs: 'evidence', width: 6, dropout: 0 })
    const backend = await open(spec)
    const before = backend.exportState()
    const copy = structuredClone(before)
    await train(backend, spec, [0, 1])
    expect(before).toEqual(copy)
    expect(backend.exportState()).not.toEqual(copy)
    await backend.close()
  })

  it('gives a padded batch the mean of its runs alone', async () => {
    const spec = specOf({ inputs: 'hidden+evidence', width: 6, dropout: 0 })
    const source = sourceOf(spec)
    const slots = [trajectories[0]?.slice(0, 3) ?? [], trajectories[1]?.slice(0, 9) ?? []]
    const backend = await open(spec)
    const together = await backend.gradients(buildBatch(source, slots, { positiveWeight: 5 }), null)
    const alone: (typeof together)[] = []
    for (const slot of slots)
      alone.push(await backend.gradients(buildBatch(source, [slot], { positiveWeight: 5 }), null))
    const mean = (of: (result: typeof together) => ArrayLike<number>): readonly number[] =>
      Array.from(of(together), (_, i) => alone.reduce((sum, result) => sum + (of(result)[i] as number) / 2, 0))
    expect(
      relativeError(
        [together.loss],
        mean(({ loss }) => [loss]),
      ),
    ).toBeLessThan(1e-5)
    for (const { name } of tensorsOf(spec))
      expect(
        relativeError(
          tensorOf(together.gradients, name),
          mean(({ gradients }) => tensorOf(gradients, name)),
        ),
        name,
      ).toBeLessThan(1e-5)
    await backend.close()
  })

  it('lets no gradient into a hidden unit that the mask drops, and uses every value of the mask', async () => {
    const spec = specOf({ inputs: 'hidden', width: 6, dropout: 0.5 })
    const batch = batchOf(spec)
    const backend = await open(spec)
    const keepAll = new Float32Array(batch.trajectories * batch.pairs * spec.width).fill(1)
    const dropUnit = keepAll.map((value, i) => (i % spec.width === 2 ? 0 : value))
    const [all, dropped] = [await backend.gradients(batch, keepAll), await backend.gradients(batch, dropUnit)]
    const unit = (gradients: RouterParameters): readonly number[] => [
      gradients.w2[2] as number,
      gradients.b1[2] as number,
      ...Array.from({ length: spec.hiddenSize }, (_, k) => gradients.weights.h?.[k * spec.width + 2] as number),
    ]
    expect(unit(dropped.gradients).every((value) => value === 0)).toBe(true)
    expect(unit(all.gradients).some((value) => value !== 0)).toBe(true)
    expect(dropped.loss).not.toBe(all.loss)
    const logits = await backend.logits(batch)
    expect(logits, 'scoring uses no mask').toHaveLength(batch.labels.length)
    await backend.close()
  })

  it.runIf(liveTensors !== null)('holds no more tensors after 100 steps, and none once closed', async () => {
    const count = liveTensors ?? (async () => 0)
    const before = await count()
    const spec = specOf({ inputs: 'hidden+evidence', width: 6, dropout: 0.3 })
    const backend = await open(spec)
    const batch = batchOf(spec)
    const mask = maskOf(spec, batch)
    await backend.step(batch, mask)
    const held = await count()
    for (let step = 0; step < 100; step++) await backend.step(batch, mask)
    await backend.gradients(batch, mask)
    await backend.logits(batch)
    backend.importState(backend.exportState())
    expect(await count()).toBe(held)
    expect(held - before, 'parameters and two moments').toBe(3 * tensorsOf(spec).length)
    await backend.close()
    expect(await count()).toBe(before)
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

  it.skipIf(engine === 'tfjs-node-gpu')('refuses a router that does not fit into its memory', async () => {
    const spec: RouterSpec = { inputs: 'hidden', hiddenSize: 50_000, evidenceSize: 0, width: 4096, dropout: 0 }
    const parameters = { weights: {}, b1: new Float32Array(0), w2: new Float32Array(0), b2: new Float32Array(0) }
    await expect(create({ spec, parameters, adamw })).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('--width'),
    })
  })
})
