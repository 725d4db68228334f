/**
 * One suite over frozen LMs of several kinds: vectors of a history that grows, and whose window falls back, are equal
 * bit for bit whatever the prefix cache keeps. Recurrent states cannot be cropped, a sliding window forgets: both are here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import type { FrozenLm } from '../../../models/frozen-lm/port.ts'
import { createPrefixCache } from '../../../models/frozen-lm/prefix-cache.ts'
import { runViewTree, type TreeRun } from '../../../models/frozen-lm/run-view-tree.ts'
import type { ViewNode } from '../../../src/view/build-view-tree.ts'
import { writeRandomFamily } from '../../fixtures/random-families.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-prefix-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const VOCABULARY = 90
const tokensOf = (seed: number, length: number): Int32Array =>
  Int32Array.from({ length }, (_, at) => (seed * 31 + at * 7) % VOCABULARY)

/** Head, then the steps from `first` up to `end`, each a run of its own; a vector at the end and one beside it. */
function treeAt(first: number, end: number): ViewNode {
  const emit = (interaction: number) => ({ role: 'h' as const, interaction, checkpoint: end })
  const base = { truncatedTokens: 0, children: [] }
  let below: ViewNode = { ...base, tokens: tokensOf(99, 2), emit: emit(end) }
  for (let k = end - 1; k >= first; k--)
    below = { ...base, tokens: tokensOf(k, 3 + ((k * 5) % 14)), emit: null, children: [below] }
  const target = { ...base, tokens: tokensOf(end + 50, 9), emit: emit(end + 100) }
  return { ...base, tokens: tokensOf(77, 17), emit: null, children: [target, below] }
}

/** Windows of 2 to 4 steps: three grow, then one falls back. */
const WINDOWS = [
  [0, 2],
  [0, 3],
  [0, 4],
  [2, 5],
  [2, 6],
  [2, 6],
] as const

async function replay(lm: FrozenLm, maxBytes: number): Promise<readonly TreeRun[]> {
  const prefixes = createPrefixCache(lm, maxBytes)
  const runs: TreeRun[] = []
  for (const [first, end] of WINDOWS) {
    runs.push(await runViewTree(lm, treeAt(first, end), { prefixes }))
    expect(prefixes.sizeBytes).toBeLessThanOrEqual(maxBytes)
  }
  prefixes.clear()
  return runs
}

describe.each(['llama', 'mistral with a window', 'qwen3.5', 'gemma3', 'phi3'])('the prefix cache of a %s', (family) => {
  it('changes no bit of a vector, whether it keeps everything, some of it or nothing', async () => {
    const directory = join(folder, family)
    const { layerCount } = writeRandomFamily(family, directory)
    const lm = await loadFrozenLm({ directory, layer: layerCount })
    try {
      const { state } = await lm.prefill(tokensOf(0, 40), { past: null, rows: 'last', keepState: true })
      const stateBytes = state?.sizeBytes ?? 0
      if (state !== null) lm.dispose(state)
      const plain = await replay(lm, 0)
      const tokens = (runs: readonly TreeRun[]): number => runs.reduce((sum, run) => sum + run.computedTokens, 0)
      const saved = (runs: readonly TreeRun[]): number => runs.reduce((sum, run) => sum + run.savedTokens, 0)
      for (const maxBytes of [1000, Math.round(1.5 * stateBytes) + 1000, 3 * stateBytes + 1000, 1e8]) {
        const cached = await replay(lm, maxBytes)
        expect(cached.map((run) => run.vectors)).toEqual(plain.map((run) => run.vectors))
        expect(tokens(cached) + saved(cached)).toBe(tokens(plain))
        if (maxBytes === 1000) expect(saved(cached)).toBe(0)
        if (maxBytes > 2 * stateBytes) expect(saved(cached)).toBeGreaterThan(0)
      }
    } finally {
      await lm.close()
    }
  })
})
