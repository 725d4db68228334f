import { describe, expect, it } from 'vitest'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import { tensorOf, tensorsOf } from '../../../../models/router/parameters.ts'
import type { RouterSpec } from '../../../../models/router/spec.ts'
import { createRng } from '../../../../src/rng.ts'
import { type BackendOptions, DEFAULT_ADAMW } from '../../../../training/backends/backend.ts'
import { loadTfjsWasm } from '../../../../training/backends/load-tfjs.ts'
import { createTfjsBackend } from '../../../../training/backends/tfjs.ts'
import { buildBatch, createBatchSource } from '../../../../training/batch.ts'
import { dropoutMask } from '../../../../training/dropout-mask.ts'
import { pairsOfGroups } from '../../../../training/split-pairs.ts'
import { standardise } from '../../../../training/standardise.ts'
import { relativeError } from '../../../fixtures/router-reference.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 6, hiddenSize: 5, minLength: 4, maxLength: 7 })
const trajectories = pairsOfGroups(dataset, new Set(dataset.trajectories.map(({ group }) => group)))
const spec: RouterSpec = { inputs: 'hidden+evidence', hiddenSize: 5, evidenceSize: 3, width: 8, dropout: 0.3 }
const options: BackendOptions = { spec, parameters: initialiseRouter(spec, 7), adamw: DEFAULT_ADAMW }
const standardisation = standardise({ dataset, spec, trajectories, positiveWeight: 5 })
const source = createBatchSource({ dataset, spec, standardisation })
const batch = buildBatch(source, trajectories.slice(0, 3), { positiveWeight: 5 })
const mask = dropoutMask(batch.labels.length * spec.width, spec.dropout, createRng(1))
const runtime = await loadTfjsWasm()

describe('createTfjsBackend', () => {
  it("has the derivatives that the library finds by itself, to float32's rounding", async () => {
    const explicit = createTfjsBackend(runtime, options)
    const plain = createTfjsBackend(runtime, { ...options, derivatives: 'plain' })
    const [own, expected] = [await explicit.gradients(batch, mask), await plain.gradients(batch, mask)]
    expect(Math.abs(own.loss / expected.loss - 1)).toBeLessThan(1e-6)
    for (const { name } of tensorsOf(spec))
      expect(relativeError(tensorOf(own.gradients, name), tensorOf(expected.gradients, name)), name).toBeLessThan(1e-6)
    await Promise.all([explicit.close(), plain.close()])
  })

  it('refuses to compute while another backend of the library is active', async () => {
    const backend = createTfjsBackend({ ...runtime, backend: 'tensorflow' }, options)
    for (const use of [
      () => backend.step(batch, mask),
      () => backend.gradients(batch, mask),
      () => backend.logits(batch),
    ])
      await expect(use()).rejects.toMatchObject({
        code: 'invariant',
        message: 'tfjs-wasm needs the backend tensorflow active, it is wasm',
      })
    expect(backend.exportState().step).toBe(0)
    await backend.close()
  })

  it('decays weights and not biases', async () => {
    const still = { ...batch, weights: new Float32Array(batch.weights.length) }
    const adamw = { ...DEFAULT_ADAMW, learningRate: 0.1, decay: 0.5 }
    const parameters = { ...options.parameters, b1: new Float32Array(spec.width).fill(1), b2: Float32Array.of(2) }
    const backend = createTfjsBackend(runtime, { spec, parameters, adamw })
    await backend.step(still, mask)
    const after = backend.exportState().parameters
    expect([...after.b1, ...after.b2]).toEqual([...parameters.b1, ...parameters.b2])
    expect(
      relativeError(
        after.w2,
        parameters.w2.map((value) => value * 0.95),
      ),
    ).toBeLessThan(1e-6)
    await backend.close()
  })

  it('refuses by --width a router that its memory cannot hold, and takes one that just fits', async () => {
    const fits = tensorsOf(spec).reduce((sum, { size }) => sum + size, 0) * 4 * 6
    expect(() => createTfjsBackend({ ...runtime, memoryBytes: fits - 1 }, options)).toThrow(/--width/)
    await createTfjsBackend({ ...runtime, memoryBytes: fits }, options).close()
  })
})
