import { describe, expect, it } from 'vitest'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import type { RouterSpec } from '../../../../models/router/spec.ts'
import { AppError } from '../../../../src/errors.ts'
import { type BackendOptions, DEFAULT_ADAMW, type TrainerBackend } from '../../../../training/backends/backend.ts'
import { loadTfjsNodeGpu, loadTfjsWasm } from '../../../../training/backends/load-tfjs.ts'
import { type EngineSeams, openBackend } from '../../../../training/backends/open-backend.ts'
import { createOrtBackend } from '../../../../training/backends/ort.ts'
import { tfjsNodeLike } from '../../../fixtures/tfjs-node-like.ts'

const spec: RouterSpec = { inputs: 'hidden+evidence', hiddenSize: 6, evidenceSize: 3, width: 4, dropout: 0.3 }
const optionsOf = (own: RouterSpec): BackendOptions => ({
  spec: own,
  parameters: initialiseRouter(own, 1),
  adamw: DEFAULT_ADAMW,
})

/** A machine with a GPU that computes what the CPU computes, but for what a test says. */
function machine(changes: Partial<EngineSeams> = {}): EngineSeams {
  return {
    missingForCuda: async () => null,
    createOrt: async (options, provider) => ({ ...(await createOrtBackend(options)), name: `ort-${provider}` }),
    loadTfjsWasm,
    loadTfjsNodeGpu: () => nodeGpu(1),
    ...changes,
  }
}

/** @param factor what its matrix products are off by */
function nodeGpu(factor: number): ReturnType<typeof loadTfjsNodeGpu> {
  const like = tfjsNodeLike({ isUsingGpuDevice: true })
  const matMul = ((...factors: Parameters<typeof like.matMul>) =>
    like.mul(like.matMul(...factors), factor)) as typeof like.matMul
  return loadTfjsNodeGpu({ importPackage: async () => ({ default: { ...like, matMul } }), util: {} })
}

/** A backend whose gradients are a little wrong in one tensor, as TF32 makes them. */
async function inexact(options: BackendOptions, error: number): Promise<TrainerBackend> {
  const backend = await createOrtBackend(options)
  return {
    ...backend,
    async gradients(batch, mask) {
      const { loss, gradients } = await backend.gradients(batch, mask)
      return { loss, gradients: { ...gradients, w2: gradients.w2.map((value) => value * (1 + error)) } }
    },
  }
}

describe('openBackend', () => {
  it.each(['ort-cpu', 'ort-cuda', 'tfjs-wasm', 'tfjs-node-gpu'] as const)('opens %s by that name', async (name) => {
    const backend = await openBackend(name, optionsOf(spec), machine())
    expect(backend.name).toBe(name)
    await backend.close()
  })

  it.each([
    { ...spec, inputs: 'hidden', evidenceSize: 0, width: 500, dropout: 0 },
    { ...spec, inputs: 'evidence', hiddenSize: 0, width: 0 },
  ] as const satisfies readonly RouterSpec[])('self-checks each kind of router ($inputs)', async (own) => {
    const backend = await openBackend('tfjs-node-gpu', optionsOf(own), machine())
    expect(backend.name).toBe('tfjs-node-gpu')
    await backend.close()
  })

  it('refuses a GPU whose gradients are off by a TF32 product, and names the way out', async () => {
    const seams = machine({ createOrt: (options) => inexact(options, 1e-3) })
    await expect(openBackend('ort-cuda', optionsOf(spec), seams)).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringMatching(/ort-cuda.*gradient of w2.*NVIDIA_TF32_OVERRIDE=0.*--backend ort-cpu/),
    })
    const close = machine({ createOrt: (options) => inexact(options, 1e-6) })
    await (await openBackend('ort-cuda', optionsOf(spec), close)).close()
  })

  it.each([1.001, Number.NaN])('refuses a tfjs-node-gpu whose products are off by %d', async (factor) => {
    const seams = machine({ loadTfjsNodeGpu: () => nodeGpu(factor) })
    await expect(openBackend('tfjs-node-gpu', optionsOf(spec), seams)).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringContaining('computes something else than ort-cpu'),
    })
  })

  it('closes what a failed self-check opened', async () => {
    const { tf } = await loadTfjsWasm()
    const before = tf.memory().numTensors
    const seams = machine({ loadTfjsNodeGpu: () => nodeGpu(1.001) })
    await expect(openBackend('tfjs-node-gpu', optionsOf(spec), seams)).rejects.toThrow(AppError)
    expect(tf.memory().numTensors).toBe(before)
  })

  it('says what CUDA lacks before it makes a session', async () => {
    const seams = machine({
      missingForCuda: async () => ({ what: 'cuDNN 9', remedy: 'libcudnn.so.9: cannot open; install cuDNN 9' }),
      createOrt: async () => {
        throw new Error('a session was made')
      },
    })
    await expect(openBackend('ort-cuda', optionsOf(spec), seams)).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringMatching(/lacks cuDNN 9: .*install cuDNN 9.*keepready devices.*--backend ort-cpu/),
    })
  })

  it('turns a session that the runtime refuses into an engine that is not there', async () => {
    const seams = machine({
      createOrt: async (options, provider) => {
        if (provider === 'cpu') return createOrtBackend(options)
        throw new Error('CUDA failure 35: driver too old\nstack of the runtime')
      },
    })
    await expect(openBackend('ort-cuda', optionsOf(spec), seams)).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringContaining('CUDA failure 35: driver too old (`keepready devices` says more)'),
    })
  })

  it('keeps the name of an option that no engine could take', async () => {
    const huge: RouterSpec = { inputs: 'hidden', hiddenSize: 50_000, evidenceSize: 0, width: 4096, dropout: 0 }
    const parameters = { weights: {}, b1: new Float32Array(0), w2: new Float32Array(0), b2: new Float32Array(0) }
    const options = { spec: huge, parameters, adamw: DEFAULT_ADAMW }
    await expect(openBackend('ort-cuda', options, machine())).rejects.toMatchObject({ code: 'option-invalid' })
  })
})
