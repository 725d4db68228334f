import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { boundRuns } from '../../../../models/frozen-lm/bounded-runs.ts'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import type { FrozenLm, StateHandle } from '../../../../models/frozen-lm/port.ts'
import { createSession } from '../../../../models/frozen-lm/session.ts'
import { RANDOM_FAMILIES, writeRandomFamily } from '../../../fixtures/random-families.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-bounded-'))
afterAll(() => rmSync(folder, { recursive: true }))

const tokensOf = (length: number): Int32Array => Int32Array.from({ length }, (_, i) => (i * 37 + 5) % 90)

async function openFamily(name: string): Promise<FrozenLm> {
  const directory = join(folder, name)
  const { layerCount } = writeRandomFamily(name, directory)
  return createSession(openCheckpoint(directory), layerCount)
}

/** Counts what is given out and not yet disposed. */
function counting(lm: FrozenLm): FrozenLm & { readonly living: Set<StateHandle>; readonly lengths: number[] } {
  const living = new Set<StateHandle>()
  const lengths: number[] = []
  return {
    ...lm,
    living,
    lengths,
    async prefill(tokens, options) {
      lengths.push(tokens.length)
      const result = await lm.prefill(tokens, options)
      if (result.state !== null) living.add(result.state)
      return result
    },
    dispose(state) {
      living.delete(state)
      lm.dispose(state)
    },
  }
}

describe.each(Object.keys(RANDOM_FAMILIES))('runs of %s that are cut', async (name) => {
  const lm = await openFamily(name)
  afterAll(() => lm.close())

  test.prop([fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 140 })], {
    numRuns: 6,
  })('give the bits of one run, whatever the bound', async (bound, before, length) => {
    const bounded = boundRuns(lm, () => bound)
    const prefix =
      before === 0 ? null : await lm.prefill(tokensOf(before), { past: null, rows: 'last', keepState: true })
    const options = { past: prefix?.state ?? null, rows: 'last', keepState: true } as const
    const whole = await lm.prefill(tokensOf(length), options)
    const cut = await bounded.prefill(tokensOf(length), options)
    expect(cut.hidden.data).toEqual(whole.hidden.data)
    expect(cut.state).toEqual(whole.state)
    const behind = { rows: 'last', keepState: false } as const
    const afterCut = await lm.prefill(tokensOf(9), { ...behind, past: cut.state })
    const afterWhole = await lm.prefill(tokensOf(9), { ...behind, past: whole.state })
    expect(afterCut.hidden.data).toEqual(afterWhole.hidden.data)
  })
})

describe('a bounded LM', async () => {
  const lm = await openFamily('llama')
  afterAll(() => lm.close())

  it('gives rows of any piece in the order that was asked for', async () => {
    const rows = [120, 3, 64, 63, 99]
    const options = { past: null, rows, keepState: false } as const
    const whole = await lm.prefill(tokensOf(130), options)
    const cut = await boundRuns(lm, () => 32).prefill(tokensOf(130), options)
    expect(cut.hidden).toEqual(whole.hidden)
    expect(cut.state).toBeNull()
  })

  it('computes pieces of at most the bound and keeps no state but the one it returns', async () => {
    const watched = counting(lm)
    const { state } = await boundRuns(watched, () => 64).prefill(tokensOf(130), {
      past: null,
      rows: 'last',
      keepState: true,
    })
    expect(watched.lengths).toEqual([64, 64, 2])
    expect([...watched.living]).toEqual([state])
  })

  it('is told where the whole prefill ends, its past included', async () => {
    const { state } = await lm.prefill(tokensOf(10), { past: null, rows: 'last', keepState: true })
    const ends: number[] = []
    const told = boundRuns(lm, (total) => {
      ends.push(total)
      return 32
    })
    await told.prefill(tokensOf(100), { past: state, rows: 'last', keepState: false })
    expect(ends).toEqual([110])
  })

  it('leaves the caller its own state and releases the rest when a piece fails', async () => {
    const watched = counting(lm)
    const { state } = await watched.prefill(tokensOf(10), { past: null, rows: 'last', keepState: true })
    const failing = {
      ...watched,
      prefill: (tokens: Int32Array, options: Parameters<FrozenLm['prefill']>[1]) =>
        watched.lengths.length >= 3 ? Promise.reject(new Error('enough')) : watched.prefill(tokens, options),
    }
    const run = boundRuns(failing, () => 16).prefill(tokensOf(64), { past: state, rows: 'last', keepState: true })
    await expect(run).rejects.toThrow('enough')
    expect([...watched.living]).toEqual([state])
  })
})
