import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { boundedTokens, scoreBound } from '../../../../models/frozen-lm/attention-scores.ts'
import { type Checkpoint, openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { completeExecution } from '../../../../models/frozen-lm/execution.ts'
import { loadFrozenLm } from '../../../../models/frozen-lm/load-frozen-lm.ts'
import { estimateMemory } from '../../../../models/frozen-lm/memory-estimate.ts'
import { boundMemory, planMemory } from '../../../../models/frozen-lm/memory-plan.ts'
import { createSession } from '../../../../models/frozen-lm/session.ts'
import { writeRandomFamily } from '../../../fixtures/random-families.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-scores-'))
afterAll(() => rmSync(folder, { recursive: true }))

function open(name: string, change: object = {}): Checkpoint {
  const directory = join(folder, `${name}-${JSON.stringify(change).length}`)
  writeRandomFamily(name, directory, { ...change })
  return openCheckpoint(directory)
}

/** Heads as in a large model, matrices as in a small one. */
const MANY_HEADS = {
  num_attention_heads: 64,
  num_key_value_heads: 1,
  head_dim: 8,
  hidden_size: 16,
  intermediate_size: 16,
  num_hidden_layers: 1,
  max_position_embeddings: 8192,
}

describe('attention scores', () => {
  it('are held by soft-capped layers on the CPU, and by all layers in plain operators', () => {
    const [gemma, llama] = [open('gemma2').config, open('llama').config]
    expect(scoreBound(gemma, 2, 'fused')?.pairBytes).toBe(4 * 4)
    expect(scoreBound(gemma, 0, 'fused')).toBeNull()
    expect(scoreBound(llama, 2, 'fused')).toBeNull()
    expect(scoreBound(llama, 2, 'plain')?.pairBytes).toBe(3 * 4)
  })

  it('of one run never exceed the bound, but for runs of 64 tokens', () => {
    for (const heads of [1, 8, 16, 64])
      for (const keys of [64, 1000, 5120, 131072]) {
        const bound = { pairBytes: 4 * heads, mostBytes: 2 ** 27 }
        const tokens = boundedTokens(bound, keys)
        expect(tokens % 64).toBe(0)
        expect(tokens === 64 || tokens * keys * bound.pairBytes <= bound.mostBytes).toBe(true)
        expect((tokens + 64) * keys * bound.pairBytes).toBeGreaterThan(bound.mostBytes)
      }
  })

  it('make memory grow with the length of a view, not with its square', () => {
    const checkpoint = open('gemma2', MANY_HEADS)
    const plan = (viewTokens: number) =>
      planMemory({ checkpoint, layer: 1, execution: completeExecution(), viewTokens, cacheBytes: 0 })
    expect(plan(512).runTokens).toBe(512)
    expect(plan(4096).runTokens).toBe(128)
    expect(plan(8192).activationBytes).toBeLessThan(1.1 * 2 ** 27)
    const whole = 64 * 4 * 8192 ** 2
    expect(plan(8192).activationBytes).toBeLessThan(whole / 100)
    const estimate = (tokens: number) => estimateMemory(checkpoint, { layer: 1, tokens, weights: 'mmap' }).totalBytes
    expect(estimate(8192) - estimate(4096)).toBeLessThan(2 ** 26)
  })

  it('are cut further where a budget asks for it', () => {
    const checkpoint = open('gemma2', MANY_HEADS)
    const use = { checkpoint, layer: 1, viewTokens: 4096, cacheBytes: 0 }
    const whole = boundMemory({ ...use, execution: completeExecution() })
    const execution = completeExecution({ memoryBytes: whole.totalBytes - 40e6 })
    expect(planMemory({ ...use, execution })).toMatchObject({ runTokens: 64 })
  })

  it('are not cut where that would change the vectors', () => {
    const checkpoint = open('gemma2', MANY_HEADS)
    const execution = completeExecution({ quantize: 'int8' })
    const { runTokens } = planMemory({ checkpoint, layer: 1, execution, viewTokens: 4096, cacheBytes: 0 })
    expect(runTokens).toBe(4096)
  })

  it('that are cut give the bits of one run', async () => {
    const checkpoint = open('gemma2', MANY_HEADS)
    const tokens = Int32Array.from({ length: 1500 }, (_, i) => (i * 37 + 5) % 90)
    const rows = [0, 700, 1499]
    const options = { past: null, rows, keepState: false } as const
    const bounded = await loadFrozenLm({ directory: checkpoint.directory, layer: 1 })
    const whole = await createSession(checkpoint, 1)
    const [cut, one] = [await bounded.prefill(tokens, options), await whole.prefill(tokens, options)]
    expect(cut.hidden.data).toEqual(one.hidden.data)
    await bounded.close()
    await whole.close()
  })
})
