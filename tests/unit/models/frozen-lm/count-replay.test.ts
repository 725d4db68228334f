import { beforeAll, describe, expect, it } from 'vitest'
import { importFiles } from '../../../../data/import/import-files.ts'
import { countReplay, type ReplayedCheckpoint } from '../../../../models/frozen-lm/count-replay.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { loadTokenizer } from '../../../../models/tokenizer/hf-tokenizer.ts'
import type { Trajectory } from '../../../../src/trajectory/trajectory.ts'
import { createRecipe, type RecentWindow } from '../../../../src/view/recipe.ts'

/** Keys and values of a token in 20 layers of SmolLM2-135M: 3 heads of 64, f32. */
const SMOLLM2_BYTES = 20 * 2 * 3 * 64 * 4
/** From where the recent section is full. */
const CHECKPOINTS = Array.from({ length: 12 }, (_, i) => 10 + i)

let run: Trajectory
beforeAll(async () => {
  const { trajectories } = await importFiles([packageFile('data', 'samples', 'demo-history')])
  const [longest] = [...trajectories].sort((a, b) => b.interactions.length - a.interactions.length)
  if (longest === undefined) throw new Error('the samples hold a demo history')
  run = longest
})

function replay(window: RecentWindow, megabytes: number): Promise<readonly ReplayedCheckpoint[]> {
  return countReplay({
    trajectory: run,
    checkpoints: CHECKPOINTS,
    recipe: createRecipe('once', { window }),
    tokenizer: loadTokenizer(packageFile('models', 'tiny')),
    contextLength: 8192,
    stateBytesPerToken: SMOLLM2_BYTES,
    prefixCacheBytes: megabytes << 20,
    vectorCacheBytes: 64 << 20,
  })
}

/** The first checkpoint finds nothing. */
function tokensAfterFirst(replayed: readonly ReplayedCheckpoint[]): number {
  return replayed.slice(1).reduce((sum, { computedTokens }) => sum + computedTokens, 0)
}

describe('a real run that is scored after every interaction, in a server of a 135 M model', () => {
  it('computes at most two thirds of the tokens with a growing window and the default prefix cache', async () => {
    const off = tokensAfterFirst(await replay('growing', 0))
    const on = tokensAfterFirst(await replay('growing', 256))
    expect(off / on).toBeGreaterThan(1.5)
    expect(tokensAfterFirst(await replay('fixed', 0)) / on).toBeGreaterThan(1.5)
  })

  it('saves the task head at each checkpoint with a fixed window', async () => {
    const off = await replay('fixed', 0)
    const on = await replay('fixed', 256)
    const heads = on.slice(1).map(({ prefixCache }) => prefixCache.savedTokens)
    expect(new Set(heads).size).toBe(1)
    on.slice(1).forEach((checkpoint, k) => {
      expect(checkpoint.computedTokens + checkpoint.prefixCache.savedTokens).toBe(off[k + 1]?.computedTokens)
    })
  })
})
