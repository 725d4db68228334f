/** No device but the CPU is here: sessions on one are CPU sessions of the graph that it would run, some of them spoilt. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Checkpoint, openCheckpoint } from '../../../../../models/frozen-lm/checkpoint.ts'
import { type DeviceSeams, MACHINE, openOnDevice } from '../../../../../models/frozen-lm/devices/open-on-device.ts'
import {
  describeSelfCheck,
  SELF_CHECK_LIMITS,
  SELF_CHECK_TOKENS,
} from '../../../../../models/frozen-lm/devices/self-check.ts'
import { trySelfCheck } from '../../../../../models/frozen-lm/devices/trial.ts'
import { completeExecution, type Execution } from '../../../../../models/frozen-lm/execution.ts'
import type { FrozenLm, PrefillResult } from '../../../../../models/frozen-lm/port.ts'
import { createSession } from '../../../../../models/frozen-lm/session.ts'
import { planSession } from '../../../../../models/frozen-lm/session-plan.ts'
import { AppError } from '../../../../../src/errors.ts'
import { RANDOM_FAMILIES, writeRandomFamily } from '../../../../fixtures/random-families.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-device-'))
afterAll(() => rmSync(folder, { recursive: true }))

let llama: Checkpoint
beforeAll(() => {
  writeRandomFamily('llama', join(folder, 'llama'))
  llama = openCheckpoint(join(folder, 'llama'))
})

/** The session that a device would run, on the CPU. */
function openPlain(checkpoint: Checkpoint, layer: number, execution: Execution): Promise<FrozenLm> {
  const { variant } = planSession(checkpoint, execution)
  const cpu = planSession(checkpoint, completeExecution())
  return createSession(checkpoint, layer, { ...cpu, device: execution.device, variant })
}

function seams(
  spoil: (result: PrefillResult, tokens: Int32Array) => PrefillResult = (result) => result,
  more: Partial<DeviceSeams> = {},
): DeviceSeams {
  return {
    backends: () => ['cpu', 'webgpu', 'cuda'],
    fileExists: () => true,
    runtimeFolder: '/runtime/',
    async open(checkpoint, layer, execution) {
      const lm = await openPlain(checkpoint, layer, execution)
      if (execution.device === 'cpu') return lm
      return { ...lm, prefill: async (tokens, options) => spoil(await lm.prefill(tokens, options), tokens) }
    },
    ...more,
  }
}

/** Adds to every value of the rows from `first` on. */
function shifted(result: PrefillResult, first: number, by: number): PrefillResult {
  const { hidden } = result
  const data = hidden.data.map((value, i) => (i >= first * hidden.cols ? value + by : value))
  return { ...result, hidden: { ...hidden, data } }
}

const open = (device: Execution['device'], with_: DeviceSeams) =>
  openOnDevice({ checkpoint: llama, layer: 2, execution: completeExecution({ device }) }, with_)

describe('a model on another device', () => {
  it.each(Object.keys(RANDOM_FAMILIES))('passes the self-check with the graph of %s', async (name) => {
    const directory = join(folder, name)
    const { layerCount } = writeRandomFamily(name, directory)
    const execution = completeExecution({ device: 'webgpu' })
    const lm = await openOnDevice({ checkpoint: openCheckpoint(directory), layer: layerCount, execution }, seams())
    expect(lm.info).toMatchObject({ device: 'webgpu', layer: layerCount })
    await lm.close()
  })

  it.each(Object.keys(RANDOM_FAMILIES))(
    'passes it with the float16 graph of %s, and says how far it is',
    async (name) => {
      const directory = join(folder, name)
      const { layerCount } = writeRandomFamily(name, directory)
      const execution = completeExecution({ device: 'cuda', precision: 'f16' })
      const lm = await openOnDevice({ checkpoint: openCheckpoint(directory), layer: layerCount, execution }, seams())
      const { selfCheck } = lm.info
      expect(selfCheck).toMatchObject({ device: 'cuda', precision: 'f16', limit: SELF_CHECK_LIMITS.f16 })
      const { worst = 1, typical = 1, lowestCosine = 0 } = selfCheck ?? {}
      expect(worst).toBeLessThan(SELF_CHECK_LIMITS.f16 / 3)
      expect(worst).toBeGreaterThan(1e-5)
      expect(typical).toBeLessThanOrEqual(worst)
      expect(lowestCosine).toBeGreaterThan(0.9999)
      await lm.close()
    },
  )

  it('says in one line how far it is', async () => {
    const execution = completeExecution({ device: 'webgpu', precision: 'f16' })
    const lm = await openOnDevice({ checkpoint: llama, layer: 2, execution }, seams())
    expect(lm.info.selfCheck && describeSelfCheck(lm.info.selfCheck)).toMatch(
      /^device webgpu, f16: .* differ from f32 on the CPU by \d\.\de-[34] at most \(limit 2e-2\), .* cosine 0\.99999/,
    )
    await lm.close()
  })

  it('is refused where its float16 rows are too far from float32', async () => {
    const execution = completeExecution({ device: 'cuda', precision: 'f16' })
    await expect(
      openOnDevice(
        { checkpoint: llama, layer: 1, execution },
        seams((result) => shifted(result, 0, 0.3)),
      ),
    ).rejects.toMatchObject({
      code: 'device-self-check-failed',
      message: /device cuda in f16 computes something else.*leave out --precision f16/,
    })
  })

  it.each([
    ['only from row 70 on', (result: PrefillResult) => shifted(result, 70, 0.3)],
    [
      'only behind a past',
      (result: PrefillResult, tokens: Int32Array) =>
        shifted(result, tokens.length === SELF_CHECK_TOKENS.target ? 0 : 999, 0.3),
    ],
    ['by a thousandth, as with TF32', (result: PrefillResult) => shifted(result, 0, 3e-3)],
    ['with one value that is not finite', (result: PrefillResult) => shifted(result, 95, Number.NaN)],
  ])('is refused where it computes something else, %s', async (_, spoil) => {
    await expect(open('cuda', seams(spoil))).rejects.toMatchObject({
      code: 'device-self-check-failed',
      message: /device cuda in f32 computes something else.*NVIDIA_TF32_OVERRIDE=0/,
    })
  })

  it('is refused where the build of the runtime does not have it, which would silently run on the CPU', async () => {
    const without = seams(undefined, { backends: () => ['cpu', 'coreml'] })
    await expect(open('webgpu', without)).rejects.toMatchObject({
      code: 'device-unavailable',
      message: /has cpu, coreml/,
    })
  })

  it('is refused where the files of the CUDA provider are not beside the runtime', async () => {
    const without = seams(undefined, { fileExists: (path) => path !== '/runtime/libonnxruntime_providers_cuda.so' })
    await expect(open('cuda', without)).rejects.toMatchObject({
      code: 'device-unavailable',
      message: /needs libonnxruntime_providers_cuda\.so in \/runtime\/.*keepready devices/,
    })
  })

  it.each([
    ['Failed to get a WebGPU adapter: No supported adapters', /cannot be used: .*No supported adapters/],
    ['graph nodes that are assigned to the default CPU EP', /lacks an operator/],
    ['Program Gather requires f16 but the device does not support it.', /has no float16.*leave out --precision f16/],
  ])('is refused where no session can be made: %s', async (message, expected) => {
    const failing = seams(undefined, {
      open: (checkpoint, layer, execution) =>
        execution.device === 'cpu'
          ? openPlain(checkpoint, layer, execution)
          : Promise.reject(new AppError('session-failed', message)),
    })
    await expect(open('webgpu', failing)).rejects.toMatchObject({ code: 'device-unavailable', message: expected })
  })

  it('never runs on this machine under a name that the runtime does not know', async () => {
    const execution = { ...completeExecution(), device: 'nonsense' as 'cuda' }
    await expect(openOnDevice({ checkpoint: llama, layer: 1, execution }, MACHINE)).rejects.toMatchObject({
      code: 'device-unavailable',
      message: /nonsense is not in this build/,
    })
  })

  it('does not go with integer products, which only the CPU has', async () => {
    const execution = completeExecution({ device: 'webgpu', quantize: 'int8' })
    await expect(openOnDevice({ checkpoint: llama, layer: 1, execution }, seams())).rejects.toMatchObject({
      code: 'option-invalid',
    })
  })
})

describe('a trial without a model', () => {
  it('passes with the graph that devices run, with its error far below the limit', async () => {
    const trial = await trySelfCheck('webgpu', seams())
    expect(trial).toMatchObject({ ok: true, tolerance: 1e-4 })
    expect(trial.ok && trial.worst < 1e-5).toBe(true)
  })

  it('says by name what went wrong', async () => {
    const trial = await trySelfCheck(
      'cuda',
      seams((result) => shifted(result, 80, 1)),
    )
    expect(trial).toMatchObject({ ok: false, code: 'device-self-check-failed' })
  })
})
