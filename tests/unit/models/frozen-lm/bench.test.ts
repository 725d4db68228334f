import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArm } from '../../../../models/frozen-lm/bench-arms.ts'
import { benchExtraction } from '../../../../models/frozen-lm/bench-extraction.ts'
import { prefillFlops } from '../../../../models/frozen-lm/bench-flops.ts'
import { openBenchModel } from '../../../../models/frozen-lm/bench-model.ts'
import { preparePeers } from '../../../../models/frozen-lm/bench-peers.ts'
import type { ArmTask } from '../../../../models/frozen-lm/bench-protocol.ts'
import { SMOLLM2_SHAPE, writeRandomCheckpoint } from '../../../../models/frozen-lm/bench-random-checkpoint.ts'
import { keyText } from '../../../../models/frozen-lm/bench-record.ts'
import { createSchedule, naiveTokens, spreadViews } from '../../../../models/frozen-lm/bench-schedule.ts'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { parseDecoderConfig } from '../../../../models/frozen-lm/config.schema.ts'
import { embeddedModelDirectory } from '../../../../models/model-directory.ts'
import { resolveModel } from '../../../../models/resolve-model.ts'

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
  max_position_embeddings: 128,
}
const SCHEDULE = { sharedTokens: 40, targetCount: 5, targetTokens: 8, seed: 3 }
const VIEWS = [1, 3]

beforeAll(() => writeRandomCheckpoint({ directory, config: SMALL, seed: 1 }))
afterAll(() => rmSync(folder, { recursive: true }))

async function runOnce(task: ArmTask, contextLength: number | null = null) {
  const arm = await openArm({ directory, layer: 2, contextLength, task })
  try {
    await arm.warmUp()
    const first = await arm.run()
    return { first, again: await arm.run(), stateBytes: arm.stateBytes }
  } finally {
    await arm.close()
  }
}

describe('createSchedule', () => {
  it('spreads target lengths by 25 % around their mean, and views over the targets', () => {
    const { shared, targets } = createSchedule({ sharedTokens: 2048, targetCount: 16, targetTokens: 256, seed: 0 }, 100)
    const lengths = targets.map((target) => target.length)
    expect(shared.length).toBe(2048)
    expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([192, 320])
    expect(lengths.reduce((sum, length) => sum + length, 0) / 16).toBeCloseTo(256, 0)
    expect(spreadViews(16, 4)).toEqual([2, 6, 10, 14])
    expect(spreadViews(2, 4)).toEqual([0, 1])
  })

  it('is decided by its seed', () => {
    expect(createSchedule(SCHEDULE, 50)).toEqual(createSchedule(SCHEDULE, 50))
    expect(createSchedule({ ...SCHEDULE, seed: 4 }, 50).shared).not.toEqual(createSchedule(SCHEDULE, 50).shared)
  })
})

describe('the arms', () => {
  it('naive and shared-first give the same bits and compute what they say', async () => {
    const naive = await runOnce({ kind: 'naive', schedule: SCHEDULE, views: VIEWS })
    const shared = await runOnce({ kind: 'shared-first', schedule: SCHEDULE, views: VIEWS })
    expect(naive.first.hidden).toHaveLength(2)
    expect(shared.first.hidden).toEqual(naive.first.hidden)
    expect(shared.again.hidden).toEqual(naive.first.hidden)
    const schedule = createSchedule(SCHEDULE, 50)
    const targetTokens = naiveTokens(schedule) - 5 * 40
    expect(shared.first.tokens).toBe(40 + targetTokens)
    const viewTokens = VIEWS.reduce((sum, index) => sum + 40 + (schedule.targets[index]?.length ?? 0), 0)
    expect(naive.first.tokens).toBe(viewTokens)
  })

  it('once computes the state and the newest interaction, every time and whatever the number of targets', async () => {
    for (const targetCount of [1, 5]) {
      const { first, again } = await runOnce({ kind: 'once', schedule: { ...SCHEDULE, targetCount } })
      expect([first.tokens, again.tokens]).toEqual([48, 48])
    }
  })

  it('a full context is one run, timed beyond the context length of the model', async () => {
    const task = { kind: 'full-context', historyTokens: 200, rowEvery: 16, seed: 0 } as const
    const { first, stateBytes } = await runOnce(task, 216)
    expect(first.tokens).toBe(200)
    // 2 layers, keys and values, one head of 16, f32.
    expect(stateBytes).toBe(2 * 2 * 16 * 4 * 200)
    await expect(runOnce(task)).rejects.toThrow(/exceed the model's context of 128/)
  })

  it('prefill times the matrix product around its lengths', async () => {
    const { first } = await runOnce({ kind: 'prefill', lengths: [16, 32], seed: 0 })
    expect(first.parts.map(({ name }) => name)).toEqual(['matmul', '16', '32', 'matmul'])
    for (const { cost } of first.parts) expect(cost.cpuMs).toBeGreaterThan(0)
  }, 120_000)
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
  it('runs every arm in a process of its own, round by round, and measures memory', async () => {
    const steps: string[] = []
    const record = await benchExtraction({
      directory,
      layer: 2,
      grid: {
        sharedTokens: [40],
        targetCounts: [2, 4],
        targetTokens: [8],
        histories: [64, 160],
        prefillLengths: [],
        views: 1,
      },
      repeats: 2,
      rows: ['shared-first', 'once', 'full-context', 'memory', 'load'],
      seed: 0,
      loadBytes: 1e6,
      onStep: ({ done, total, what }) => steps.push(`${done}/${total} ${what}`),
    })
    const keys = [
      'naive 40 + 2 x 8',
      'shared-first 40 + 2 x 8',
      'shared-first 40 + 4 x 8',
      'once 40 + 2 x 8',
      'once 40 + 4 x 8',
      'view 40 + 8',
      'view-in-one 40 + 8',
      'full-context 64',
      'full-context 160',
    ]
    expect(record.arms.map(({ key }) => keyText(key))).toEqual(keys)
    // The two forms of one view run once; everything else twice, interleaved; then loading.
    expect(steps).toHaveLength(9 + 7 + 2)
    expect(steps[0]).toBe('0/18 round 1, naive 40 + 2 x 8')
    expect(steps[9]).toBe('9/18 round 2, naive 40 + 2 x 8')
    const [naive, shared] = record.arms
    // The longer of the two targets.
    expect(naive?.ranTokens).toBe(40 + 10)
    expect(naive?.tokens).toBe(2 * 40 + 16)
    expect(shared?.hidden).toEqual(naive?.hidden)
    for (const { costs, memory } of record.arms) {
      for (const cost of costs) expect(Math.min(cost.wallMs, cost.cpuMs)).toBeGreaterThan(0)
      expect(memory?.loadedBytes).toBeGreaterThan(3e7)
      expect(memory?.peakBytes).toBeGreaterThanOrEqual(memory?.loadedBytes ?? Number.NaN)
      expect(memory?.anonymousBytes).toBeGreaterThan(1e7)
    }
    expect(record.loads[0]?.checkpointBytes).toBeGreaterThan(1e6)
    expect(record.loads[0]?.anonymousBytes).toBeGreaterThan(1e7)
  }, 180_000)

  it('names the arm that failed', async () => {
    const grid = {
      sharedTokens: [500],
      targetCounts: [1],
      targetTokens: [8],
      histories: [16],
      prefillLengths: [],
      views: 1,
    }
    const bench = benchExtraction({ directory, layer: 1, grid, repeats: 1, rows: ['once'], seed: 0, loadBytes: 0 })
    await expect(bench).rejects.toThrow(/arm failed: .*exceed the model's context of 128/)
  }, 60_000)
})

describe('preparePeers', () => {
  it('says why a peer is left out: no clone, not installed', () => {
    const base = { directory, layer: 1, scratch: join(folder, 'peers') }
    expect(preparePeers({ ...base, home: join(folder, 'nowhere') }).unavailable).toEqual([
      { peer: 'transformers.js', reason: 'it is measured from a clone of the repository only' },
      { peer: 'llama.cpp', reason: 'it is measured from a clone of the repository only' },
    ])
  })
})

const find = (name: string): Promise<string> => resolveModel(name, { hub: folder, keepready: folder })

describe('openBenchModel', () => {
  it('takes what is found, and leaves it there', async () => {
    const model = await openBenchModel('tiny', { seed: 0, find })
    expect(model.directory).toBe(embeddedModelDirectory())
    model.cleanUp()
    expect(existsSync(model.directory)).toBe(true)
  })

  it('says when the embedded model stands in for SmolLM2', async () => {
    const real = join(folder, 'nowhere')
    const model = await openBenchModel('smollm2', { seed: 0, find, real })
    expect(model.directory).toBe(embeddedModelDirectory())
    expect(model.description).toContain(`SmolLM2-135M is not in ${real}`)
  })

  it('writes random weights of the SmolLM2 shape when asked to, and removes them', async () => {
    const model = await openBenchModel('smollm2-shape', { seed: 0, find })
    expect(openCheckpoint(model.directory).config).toMatchObject({
      hiddenSize: 576,
      layerCount: 30,
      weightDtype: 'F16',
    })
    model.cleanUp()
    expect(existsSync(model.directory)).toBe(false)
  })
})
