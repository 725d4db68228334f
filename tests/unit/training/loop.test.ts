import { describe, expect, it } from 'vitest'
import { initialiseRouter } from '../../../models/router/initialise.ts'
import type { RouterSpec } from '../../../models/router/spec.ts'
import { DEFAULT_ADAMW, type TrainerBackend } from '../../../training/backends/backend.ts'
import { createOrtBackend } from '../../../training/backends/ort.ts'
import { type Batch, createBatchSource } from '../../../training/batch.ts'
import { type LoopInput, type LoopState, runTraining } from '../../../training/loop.ts'
import { pairsOfGroups } from '../../../training/split-pairs.ts'
import { standardise } from '../../../training/standardise.ts'
import { DEFAULT_TRAIN_CONFIG } from '../../../training/train-config.ts'
import { syntheticDataset } from '../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, hiddenSize: 4 })
const groups = [...new Set(dataset.trajectories.map(({ group }) => group))]
const training = pairsOfGroups(dataset, new Set(groups.slice(0, 8)))
const validation = pairsOfGroups(dataset, new Set(groups.slice(8)))
const spec: RouterSpec = { inputs: 'hidden', hiddenSize: 4, evidenceSize: 0, width: 8, dropout: 0.3 }
const config = { ...DEFAULT_TRAIN_CONFIG, epochs: 6, learningRate: 0.01, patience: 6 }
const standardisation = standardise({ dataset, spec, trajectories: training, positiveWeight: 10 })
const source = createBatchSource({ dataset, spec, standardisation })

async function train(overrides: Partial<LoopInput> = {}): Promise<LoopState> {
  const backend = await createOrtBackend({
    spec,
    parameters: initialiseRouter(spec, 1),
    adamw: { ...DEFAULT_ADAMW, learningRate: config.learningRate },
  })
  try {
    return await runTraining({ backend, source, training, validation, config, state: null, ...overrides })
  } finally {
    await backend.close()
  }
}

/** An engine whose logits follow a script: one quality per epoch, 1 = perfect order, -1 = reversed. */
class ScriptedBackend implements TrainerBackend {
  readonly name = 'scripted'
  readonly version = '0'
  readonly deterministic = true
  readonly #qualities: readonly number[]
  #epoch = 0
  constructor(qualities: readonly number[]) {
    this.#qualities = qualities
  }
  gradients(): Promise<never> {
    return Promise.reject(new Error('not used'))
  }
  step(): Promise<number> {
    return Promise.resolve(1)
  }
  logits(batch: Batch): Promise<Float32Array> {
    const quality = this.#qualities[this.#epoch] ?? 0
    return Promise.resolve(batch.labels.map((label) => label * quality))
  }
  exportState() {
    const b2 = Float32Array.of(this.#epoch)
    this.#epoch += 1
    const parameters = { weights: {}, b1: b2, w2: b2, b2 }
    return { parameters, firstMoment: parameters, secondMoment: parameters, step: 0 }
  }
  importState(): void {}
  close(): Promise<void> {
    return Promise.resolve()
  }
}

describe('runTraining', () => {
  it('gives bitwise equal parameters for the same seed, and others for another seed', async () => {
    const [first, again, other] = [await train(), await train(), await train({ config: { ...config, seed: 2 } })]
    expect(again).toEqual(first)
    expect(other.backend.parameters).not.toEqual(first.backend.parameters)
  })

  it('lowers the loss', async () => {
    const { epochs } = await train()
    expect(epochs).toHaveLength(6)
    expect(epochs.at(-1)?.trainLossNats).toBeLessThan((epochs[0]?.trainLossNats ?? 0) * 0.9)
  })

  it('goes on from a serialised state as if it had never stopped', async () => {
    const states: LoopState[] = []
    const straight = await train({ onEpoch: (state) => void states.push(state) })
    const resumed = await train({ state: structuredClone(states[2] ?? null) })
    expect(resumed).toEqual(straight)
  })

  it('keeps the best epoch and stops after `patience` epochs without a better one', async () => {
    const backend = new ScriptedBackend([-1, 1, 0, 0, 0, 1])
    const state = await train({ backend, config: { ...config, epochs: 10, patience: 3 } })
    expect(state.best?.epoch).toBe(2)
    expect(state.epochs).toHaveLength(5)
    expect(state.best?.score).toBe(1)
  })

  it('falls back to the validation loss where validation holds no READY pair', async () => {
    const keep = validation.map((pairs) => pairs.filter((pair) => dataset.pairs.label[pair] === 0))
    const backend = new ScriptedBackend([0, 0, 0, 0])
    const state = await train({ backend, validation: keep, config: { ...config, epochs: 3 } })
    expect(state.epochs[0]?.validationPrAuc).toBeNull()
    expect(state.best?.score).toBeCloseTo(-Math.log(2), 6)
  })

  it('stops when asked to, and says why', async () => {
    const abort = new AbortController()
    await expect(train({ signal: abort.signal, onStep: () => abort.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    )
  })

  it('names a loss that is not finite, and its step', async () => {
    const backend = new ScriptedBackend([])
    let step = 0
    backend.step = () => Promise.resolve(++step === 3 ? Number.NaN : 1)
    await expect(train({ backend })).rejects.toMatchObject({
      code: 'output-not-finite',
      message: expect.stringMatching(/NaN at step 3 of \d+ in epoch 1: lower --lr/),
    })
  })
})
