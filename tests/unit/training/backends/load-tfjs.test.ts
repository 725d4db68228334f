import tfjs from '@tensorflow/tfjs'
import { describe, expect, it } from 'vitest'
import { loadTfjsNodeGpu, loadTfjsWasm, type TfjsSeams } from '../../../../training/backends/load-tfjs.ts'
import { tfjsNodeLike } from '../../../fixtures/tfjs-node-like.ts'

function seams(importPackage: TfjsSeams['importPackage'], util: Record<string, unknown> = {}): TfjsSeams {
  return { importPackage, util }
}

const notInstalled: TfjsSeams['importPackage'] = async (name) => {
  throw new Error(`Cannot find package '${name}'\nimported from here`)
}

describe('loadTfjsWasm', () => {
  it('loads the real packages and starts their wasm backend', async () => {
    const runtime = await loadTfjsWasm()
    expect(runtime).toMatchObject({ engine: 'tfjs-wasm', version: '4.22.0', deterministic: true })
    expect(runtime.tf.getBackend()).toBe('wasm')
  })

  it('says what to install where it is not', async () => {
    await expect(loadTfjsWasm(seams(notInstalled))).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringContaining(
        'npm install @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0, or use --backend ort-cpu',
      ),
    })
  })

  it('refuses a wasm backend that does not start', async () => {
    const tf = { ...tfjs, setBackend: async () => false }
    await expect(loadTfjsWasm(seams(async () => ({ default: tf })))).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringContaining('did not start'),
    })
  })
})

describe('loadTfjsNodeGpu', () => {
  it("takes a package whose backend is on a GPU by TensorFlow's own list of devices", async () => {
    const imported: string[] = []
    const runtime = await loadTfjsNodeGpu(
      seams(async (name) => {
        imported.push(name)
        return { default: tfjsNodeLike({ isUsingGpuDevice: true }) }
      }),
    )
    expect(imported).toEqual(['@tensorflow/tfjs-node-gpu'])
    expect(runtime).toMatchObject({ engine: 'tfjs-node-gpu', backend: 'tensorflow', deterministic: false })
  })

  it.each([
    ['lists no GPU, as after a failed load of CUDA', { isUsingGpuDevice: false }],
    ['does not say what it is on', {}],
    ['says it in another type', { isUsingGpuDevice: 'true' }],
  ])('refuses a backend that %s', async (_, backend) => {
    await expect(loadTfjsNodeGpu(seams(async () => ({ default: tfjsNodeLike(backend) })))).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringMatching(/computes on the CPU.*CUDA 11\.2 and cuDNN 8\.1/),
    })
  })

  it('says what to install where it is not, and quotes one line of why', async () => {
    const refused = loadTfjsNodeGpu(seams(notInstalled))
    await expect(refused).rejects.toMatchObject({
      code: 'engine-unavailable',
      message: expect.stringContaining('npm install @tensorflow/tfjs-node-gpu@4.22.0'),
    })
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('imported from here') })
  })

  it('gives back to node:util what Node 23 removed, before the package loads, and replaces nothing', async () => {
    const util: Record<string, unknown> = { isArray: 'kept' }
    let seen: Record<string, unknown> = {}
    await loadTfjsNodeGpu(
      seams(async () => {
        seen = { ...util }
        return { default: tfjsNodeLike({ isUsingGpuDevice: true }) }
      }, util),
    )
    expect(seen.isArray).toBe('kept')
    const isNullOrUndefined = seen.isNullOrUndefined as (value: unknown) => boolean
    expect([null, undefined, 0, ''].map(isNullOrUndefined)).toEqual([true, true, false, false])
  })
})
