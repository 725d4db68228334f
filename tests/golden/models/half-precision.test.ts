/**
 * The graph of --precision f16, on the CPU, which converts around each of its float16 operators: what is rounded where is
 * the graph's own, the order of summation inside of a product is not a GPU's.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Checkpoint, openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { compareRows, type RowAgreement } from '../../../models/frozen-lm/devices/row-agreement.ts'
import { SELF_CHECK_LIMITS } from '../../../models/frozen-lm/devices/self-check.ts'
import { completeExecution } from '../../../models/frozen-lm/execution.ts'
import type { FrozenLm } from '../../../models/frozen-lm/port.ts'
import { createSession } from '../../../models/frozen-lm/session.ts'
import { planSession } from '../../../models/frozen-lm/session-plan.ts'
import { packageFile } from '../../../models/package-root.ts'
import { readSafetensorsHeader, readTensorF32, writeSafetensors } from '../../../models/safetensors.ts'
import { createRng } from '../../../src/rng.ts'
import { RANDOM_FAMILIES, writeRandomFamily } from '../../fixtures/random-families.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-f16-'))
afterAll(() => rmSync(folder, { recursive: true }))

const PREFIX = 70
const TARGET = 75

/** The session of a GPU, on the CPU. */
function openHalf(checkpoint: Checkpoint, layer: number): Promise<FrozenLm> {
  const { variant } = planSession(checkpoint, completeExecution({ device: 'cuda', precision: 'f16' }))
  return createSession(checkpoint, layer, { ...planSession(checkpoint, completeExecution()), variant })
}

/** Rows of a prefix and of a target behind it. */
async function rowsOf(lm: FrozenLm): Promise<{ readonly rows: Float32Array; readonly stateBytes: number }> {
  const rng = createRng(5)
  const draw = (length: number): Int32Array => Int32Array.from({ length }, () => rng.nextBelow(lm.info.vocabularySize))
  const all = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
  const shared = await lm.prefill(draw(PREFIX), { past: null, rows: all(PREFIX), keepState: true })
  const target = await lm.prefill(draw(TARGET), { past: shared.state, rows: all(TARGET), keepState: false })
  await lm.close()
  const rows = Float32Array.from([...shared.hidden.data, ...target.hidden.data])
  return { rows, stateBytes: shared.state?.sizeBytes ?? 0 }
}

async function agreementOf(
  checkpoint: Checkpoint,
  layer: number,
): Promise<RowAgreement & { readonly stateShare: number }> {
  const expected = await rowsOf(await createSession(checkpoint, layer))
  const actual = await rowsOf(await openHalf(checkpoint, layer))
  const cols = checkpoint.config.hiddenSize
  return {
    ...compareRows({ actual: actual.rows, expected: expected.rows, cols }),
    stateShare: actual.stateBytes / expected.stateBytes,
  }
}

/** Every tensor whose name matches, times a factor. */
function scaleTensors(directory: string, matching: RegExp, factor: number): void {
  const file = join(directory, 'model.safetensors')
  const tensors = [...readSafetensorsHeader(file).tensors].map(([name, info]) => {
    const data = readTensorF32(file, info)
    return { name, shape: info.shape, data: matching.test(name) ? data.map((value) => value * factor) : data }
  })
  writeSafetensors(file, tensors)
}

describe('a graph in float16', () => {
  it.each(Object.keys(RANDOM_FAMILIES))(
    'of a random model of %s is near the float32 rows, and not equal',
    async (name) => {
      const directory = join(folder, name)
      const { layerCount } = writeRandomFamily(name, directory)
      const agreement = await agreementOf(openCheckpoint(directory), layerCount)
      expect(agreement.worst).toBeLessThan(SELF_CHECK_LIMITS.f16 / 2)
      expect(agreement.worst).toBeGreaterThan(1e-5)
    },
  )

  it('of the embedded model keeps keys and values in half the bytes', async () => {
    const agreement = await agreementOf(openCheckpoint(packageFile('models', 'tiny')), 4)
    expect(agreement.worst).toBeLessThan(5e-3)
    expect(agreement.lowestCosine).toBeGreaterThan(0.9999)
    expect(agreement.stateShare).toBe(0.5)
  })

  it('takes activations beyond the range of float16 before the last map of the feed-forward', async () => {
    const directory = join(folder, 'massive')
    writeRandomFamily('llama', directory)
    scaleTensors(directory, /(gate|up)_proj/, 1500)
    const agreement = await agreementOf(openCheckpoint(directory), 2)
    expect(agreement.worst).toBeLessThan(SELF_CHECK_LIMITS.f16)
  })
})

describe('--precision f16', () => {
  it('is refused by name on the CPU', () => {
    const directory = join(folder, 'refused')
    writeRandomFamily('llama', directory)
    expect(() => planSession(openCheckpoint(directory), completeExecution({ precision: 'f16' }))).toThrow(
      expect.objectContaining({
        code: 'option-invalid',
        message: expect.stringMatching(/--precision f16 .* cuda and webgpu/),
      }),
    )
  })
})
