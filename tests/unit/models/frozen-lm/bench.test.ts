import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ARM_NAMES, createSchedule, runArm } from '../../../../models/frozen-lm/bench-arms.ts'
import { benchExtraction, benchStepCount } from '../../../../models/frozen-lm/bench-extraction.ts'
import { prefillFlops } from '../../../../models/frozen-lm/bench-flops.ts'
import { openBenchModel } from '../../../../models/frozen-lm/bench-model.ts'
import { SMOLLM2_SHAPE, writeRandomCheckpoint } from '../../../../models/frozen-lm/bench-random-checkpoint.ts'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { parseDecoderConfig } from '../../../../models/frozen-lm/config.schema.ts'
import { loadFrozenLm } from '../../../../models/frozen-lm/load-frozen-lm.ts'
import { resolveModelDirectory } from '../../../../models/model-directory.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-bench-test-'))
const directory = join(folder, 'small')
const SMALL = {
  ...SMOLLM2_SHAPE,
  hidden_size: 32,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 16,
  intermediate_size: 48,
  vocab_size: 50,
  num_hidden_layers: 2,
}
const SCHEDULE = { sharedTokens: 40, targetCount: 5, targetTokens: 8, naiveViewCount: 2, seed: 3 }

beforeAll(() => writeRandomCheckpoint({ directory, config: SMALL, seed: 1 }))
afterAll(() => rmSync(folder, { recursive: true }))

describe('createSchedule', () => {
  it('spreads target lengths by 25 % around their mean and naive views over the targets', () => {
    const { shared, targets, naiveViews } = createSchedule(
      { sharedTokens: 2048, targetCount: 16, targetTokens: 256, naiveViewCount: 4, seed: 0 },
      100,
    )
    const lengths = targets.map((target) => target.length)
    expect(shared.length).toBe(2048)
    expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([192, 320])
    expect(lengths.reduce((sum, length) => sum + length, 0) / 16).toBeCloseTo(256, 0)
    expect(naiveViews).toEqual([2, 6, 10, 14])
  })

  it('is decided by its seed', () => {
    expect(createSchedule(SCHEDULE, 50)).toEqual(createSchedule(SCHEDULE, 50))
    expect(createSchedule({ ...SCHEDULE, seed: 4 }, 50).shared).not.toEqual(createSchedule(SCHEDULE, 50).shared)
  })
})

describe('the arms', () => {
  it('give the same hidden states where they read the same view, and count the tokens they compute', async () => {
    const lm = await loadFrozenLm({ directory, layer: 2 })
    const schedule = createSchedule(SCHEDULE, lm.info.vocabularySize)
    const shared = await runArm('shared-prefix', { lm, schedule })
    const naive = await runArm('naive', { lm, schedule })
    const full = await runArm('full-context', { lm, schedule })
    expect([...naive.hidden.keys()]).toEqual([1, 3])
    for (const [index, hidden] of naive.hidden) expect(shared.hidden.get(index)).toEqual(hidden)
    // The first target directly follows the shared part in the full context; later ones see the targets before them.
    expect(full.hidden.get(0)).toEqual(shared.hidden.get(0))
    expect(full.hidden.get(4)).not.toEqual(shared.hidden.get(4))
    const targetTokens = schedule.targets.reduce((sum, target) => sum + target.length, 0)
    expect(shared.computedTokens).toBe(40 + targetTokens)
    expect(full.computedTokens).toBe(40 + targetTokens)
    expect(naive.computedTokens).toBe(5 * 40 + targetTokens)
    await lm.close()
  })

  it('stop between two runs when aborted', async () => {
    const lm = await loadFrozenLm({ directory, layer: 1 })
    const schedule = createSchedule(SCHEDULE, lm.info.vocabularySize)
    const reason = new Error('stop')
    for (const arm of ARM_NAMES)
      await expect(runArm(arm, { lm, schedule, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await lm.close()
  })
})

describe('prefillFlops', () => {
  it('equals a count over every product of the pass', () => {
    const config = parseDecoderConfig(SMALL, 'config')
    const [layer, tokens, rows] = [2, 7, 3]
    let flops = 0
    for (let index = 0; index < layer; index++) {
      for (const [outputs, inputs] of [
        [32, 32],
        [16, 32],
        [16, 32],
      ] as const)
        flops += 2 * tokens * outputs * inputs
      for (let token = 0; token < tokens; token++) flops += 2 * (2 * 2 * 16 * (token + 1))
      const left = index === layer - 1 ? rows : tokens
      for (const [outputs, inputs] of [
        [32, 32],
        [48, 32],
        [48, 32],
        [32, 48],
      ] as const)
        flops += 2 * left * outputs * inputs
    }
    expect(prefillFlops(config, { layer, tokens, rows })).toBe(flops)
  })
})

describe('benchExtraction', () => {
  it('reports every arm with time and memory, and says that naive and shared agree bit for bit', async () => {
    const steps: string[] = []
    const bench = await benchExtraction({
      directory,
      layer: 2,
      schedule: SCHEDULE,
      rounds: 1,
      onStep: ({ what }) => steps.push(what),
    })
    expect(steps.length).toBe(benchStepCount(1))
    expect(bench.bitEqual).toBe(true)
    expect(bench.arms.map(({ arm }) => arm)).toEqual(ARM_NAMES)
    for (const { wallMs, cpuMs, memory } of bench.arms) {
      expect(Math.min(wallMs, cpuMs)).toBeGreaterThan(0)
      expect(memory.loadedBytes).toBeGreaterThan(3e7)
      expect(memory.peakBytes).toBeGreaterThanOrEqual(memory.loadedBytes)
    }
    expect(bench.speedUp).toBeGreaterThan(0)
    expect(bench.prefillShare).toBeCloseTo(bench.prefillGflops / bench.matMulGflops, 0)
  }, 180_000)
})

describe('openBenchModel', () => {
  it('takes a directory or the embedded model as they are', () => {
    const model = openBenchModel('tiny', { layerCount: 3, seed: 0 })
    expect(model.directory).toBe(resolveModelDirectory('tiny'))
    model.cleanUp()
    expect(existsSync(model.directory)).toBe(true)
  })

  it('writes random weights of the SmolLM2 shape where the real ones are not, and removes them', () => {
    const model = openBenchModel('smollm2-shape', { layerCount: 1, seed: 0, real: join(folder, 'nowhere') })
    expect(openCheckpoint(model.directory).config).toMatchObject({ hiddenSize: 576, layerCount: 1, weightDtype: 'F16' })
    model.cleanUp()
    expect(existsSync(model.directory)).toBe(false)
  })
})
