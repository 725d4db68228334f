/**
 * The other ways to write a decoder give what the plain CPU graph gives, for every family: plain operators (what
 * CUDA and WebGPU run, here on the CPU), and half-precision weights that are widened when their layer runs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { DEFAULT_EXECUTION } from '../../../models/frozen-lm/execution.ts'
import type { FrozenLm } from '../../../models/frozen-lm/port.ts'
import { createSession } from '../../../models/frozen-lm/session.ts'
import { planSession, type SessionPlan } from '../../../models/frozen-lm/session-plan.ts'
import { createRng } from '../../../src/rng.ts'
import { RANDOM_FAMILIES, writeRandomFamily } from '../../fixtures/random-families.ts'
import { expectRowsEqual } from '../compare-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-variants-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Beyond every window of the random models, and S of a self-check. */
const PREFIX = 70
const TARGET = 75
/** Each of the two lies within 4e-6 of float64 (naive-decoder.test.ts). */
const TOLERANCE = 8e-6

/** Rows of a prefix and of a target behind it. */
async function rowsOf(lm: FrozenLm): Promise<Float32Array> {
  const rng = createRng(5)
  const draw = (length: number): Int32Array => Int32Array.from({ length }, () => rng.nextBelow(lm.info.vocabularySize))
  const all = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
  const shared = await lm.prefill(draw(PREFIX), { past: null, rows: all(PREFIX), keepState: true })
  const target = await lm.prefill(draw(TARGET), { past: shared.state, rows: all(TARGET), keepState: false })
  return Float32Array.from([...shared.hidden.data, ...target.hidden.data])
}

async function expectSameAsDefault(name: string, change: (plan: SessionPlan) => SessionPlan): Promise<void> {
  const directory = join(folder, name)
  const { layerCount } = writeRandomFamily(name, directory)
  const checkpoint = openCheckpoint(directory)
  const plain = await createSession(checkpoint, layerCount)
  const other = await createSession(checkpoint, layerCount, change(planSession(checkpoint, DEFAULT_EXECUTION)))
  const golden = await rowsOf(plain)
  const actual = await rowsOf(other)
  const worst = expectRowsEqual({ what: name, actual, golden, cols: plain.info.hiddenSize })
  expect(worst).toBeLessThan(TOLERANCE)
  await plain.close()
  await other.close()
}

describe.each(Object.keys(RANDOM_FAMILIES))('a random model of %s', (name) => {
  it('gives the same rows in plain operators', async () => {
    await expectSameAsDefault(name, (plan) => ({ ...plan, variant: { ...plan.variant, operators: 'plain' } }))
  })

  it('gives the same rows with mapped and with resident weights', async () => {
    const checkpoint = (weights: 'mmap' | 'resident') => (): SessionPlan =>
      planSession(openCheckpoint(join(folder, name)), { ...DEFAULT_EXECUTION, weights })
    await expectSameAsDefault(name, checkpoint('mmap'))
    await expectSameAsDefault(name, checkpoint('resident'))
  })
})
