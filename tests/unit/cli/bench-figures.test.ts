import { describe, expect, it } from 'vitest'
import type { BenchGrid } from '../../../models/frozen-lm/bench-plan.ts'
import { planArms, repeatsOfHistory } from '../../../models/frozen-lm/bench-plan.ts'
import {
  type ArmKey,
  BENCH_ROWS,
  type BenchRow,
  type ExtractionBenchRecord,
  keyText,
  type MeasuredArm,
} from '../../../models/frozen-lm/bench-record.ts'
import { agreementOf, type BenchSetting, cardText } from '../../../src/cli/bench-card.ts'
import { figuresOf } from '../../../src/cli/bench-figures.ts'
import { benchPlots, benchReport, standaloneSvg } from '../../../src/cli/bench-report.ts'

const GRID: BenchGrid = {
  sharedTokens: [2048],
  targetCounts: [16, 64],
  targetTokens: [256],
  histories: [1024, 4096, 16_384],
  prefillLengths: [256, 512],
  views: 4,
}
const cell = (targetCount: number) => ({ sharedTokens: 2048, targetCount, targetTokens: 256 })
const VECTOR = Float32Array.of(3, 4)

function arm(key: ArmKey, cpuMs: readonly number[], more: Partial<MeasuredArm> = {}): MeasuredArm {
  const costs = cpuMs.map((value) => ({ cpuMs: value, wallMs: 1.1 * value }))
  return { key, costs, tokens: 2304, ranTokens: 2304, memory: null, version: 'keepready', hidden: [], ...more }
}

function memoryOf(peakMb: number, workspaceMb: number) {
  const mb = 1e6
  return {
    loadedBytes: 300 * mb,
    peakBytes: peakMb * mb,
    anonymousBytes: 200 * mb,
    fileBytes: 100 * mb,
    stateBytes: 70 * mb,
    workspaceBytes: workspaceMb * mb,
    gpuBytes: null,
  }
}

const RECORD: ExtractionBenchRecord = {
  layer: 20,
  hiddenSize: 2,
  vocabularySize: 50,
  arms: [
    arm({ kind: 'naive', cell: cell(16) }, [5000, 5200], { tokens: 36_864, ranTokens: 9216, hidden: [VECTOR] }),
    arm({ kind: 'shared-first', cell: cell(16) }, [1000, 1000], { hidden: [VECTOR] }),
    arm({ kind: 'shared-first', cell: cell(64) }, [2600, 2600]),
    arm({ kind: 'once', cell: cell(16) }, [400, 400]),
    arm({ kind: 'once', cell: cell(64) }, [420, 420]),
    arm({ kind: 'peer', peer: 'transformers.js', reuse: false, cell: cell(16) }, [4400, 4400], {
      hidden: [Float32Array.of(6, 8)],
    }),
    arm({ kind: 'peer', peer: 'transformers.js', reuse: true, cell: cell(16) }, [1100, 1100]),
    arm({ kind: 'view', cell: cell(1) }, [330], { memory: memoryOf(400, 30) }),
    arm({ kind: 'view-in-one', cell: cell(1) }, [330], { memory: memoryOf(320, 15) }),
    arm({ kind: 'full-context', historyTokens: 1024 }, [200, 200]),
    arm({ kind: 'full-context', historyTokens: 4096 }, [1000, 1000]),
    arm({ kind: 'full-context', historyTokens: 16_384 }, [8000], { memory: memoryOf(1600, 300) }),
  ],
  matMulGflops: [80, 82],
  prefill: [
    { tokens: 256, gflops: [76, 76], share: [0.95, 0.93] },
    { tokens: 512, gflops: [70, 72], share: [0.88, 0.88] },
  ],
  cores: [{ oneMs: 10, bothMs: 11 }],
  loads: [{ checkpointBytes: 1e9, loadMs: 700, anonymousBytes: 8e7, fileBytes: 1e9, emptyAnonymousBytes: 6e7 }],
  unavailablePeers: [{ peer: 'llama.cpp', reason: 'not installed: run npm ci in tests/bench/peers' }],
}
const REPLAYS = [
  {
    recipe: 'once',
    window: 'growing',
    run: 'r',
    checkpoints: 24,
    computedTokens: 3000,
    computedTokensWithCache: 1500,
  } as const,
]
const ALL = { record: RECORD, replays: REPLAYS, grid: GRID, rows: BENCH_ROWS, judged: true }

function figure(name: RegExp, input = ALL) {
  const found = figuresOf(input).filter((one) => name.test(one.name))
  expect(found.map((one) => one.name)).toHaveLength(1)
  return found[0]
}

describe('figuresOf', () => {
  it('has a figure for every row of the table', () => {
    expect(new Set(figuresOf(ALL).map(({ row }) => row))).toEqual(new Set(BENCH_ROWS))
  })

  it('compares round by round and scales naive views to the number of targets', () => {
    expect(figure(/^shared-first over naive.*16 x/)).toMatchObject({ value: 5.1, goal: 4.8, ok: true })
    // 64 targets cost four times what 16 do, one view at a time.
    expect(figure(/^once over naive.*64 x/)).toMatchObject({
      value: Number(((4 * 5100) / 420).toPrecision(4)),
      goal: 30,
    })
    expect(figure(/^once, cost at N = 64/)).toMatchObject({ value: 1.05, goal: 1.1, bound: 'at most', ok: true })
  })

  it('compares with full contexts, measured and extrapolated', () => {
    expect(figure(/^shared-first over a full context of 16,384.*N = 16/)).toMatchObject({
      value: 8,
      goal: 7,
      note: '1 run of the full context',
    })
    expect(figure(/^shared-first over a full context of 16,384.*N = 64/)?.goal).toBeNull()
    expect(figure(/^once over a full context of 57,000.*N = 64/)?.value).toBeGreaterThan(19)
  })

  it('judges the lowest prefill rate, and what is missed is not ok', () => {
    expect(figure(/^prefill/)).toMatchObject({ value: 0.88, goal: 0.9, ok: false, note: 'at S = 512' })
  })

  it('judges peers as they are used and prints them with their own reuse; one that is missing says why', () => {
    expect(figure(/^once over transformers.js, /)).toMatchObject({ value: 11, goal: 5, ok: true })
    expect(figure(/^once over transformers.js with/)).toMatchObject({ value: 2.75, goal: null, ok: null })
    expect(figure(/^once over llama.cpp, /)).toMatchObject({
      value: null,
      ok: null,
      note: 'unavailable: not installed: run npm ci in tests/bench/peers',
    })
  })

  it('says how much memory is saved, and what loading takes', () => {
    expect(figure(/^peak memory saved.* views against/)).toMatchObject({ value: 75, goal: 60, ok: true })
    expect(figure(/^workspace saved.* views against/)).toMatchObject({ value: 90, goal: 75, ok: true })
    expect(figure(/^workspace saved.*in one run/)).toMatchObject({ value: 95, goal: null })
    expect(figure(/^anonymous memory/)).toMatchObject({ value: 8, goal: 10, bound: 'at most', ok: true })
    expect(figure(/^prefix cache/)).toMatchObject({ value: 2, goal: 1.5 })
    expect(figure(/^two workers/)).toMatchObject({ value: 1.818, goal: 1.8 })
  })

  it('judges nothing away from the shape that the goals are meant for, and keeps to the rows asked for', () => {
    const figures = figuresOf({ ...ALL, judged: false, rows: ['once', 'load'] })
    expect(new Set(figures.map(({ row }) => row))).toEqual(new Set(['once', 'load']))
    expect(figures.every(({ goal, ok }) => goal === null && ok === null)).toBe(true)
  })
})

describe('planArms', () => {
  const plan = (rows: readonly BenchRow[]) =>
    planArms({ directory: 'd', layer: 20, seed: 0, repeats: 5, grid: GRID, rows })

  it('runs an arm once however many rows read it', () => {
    const keys = plan(BENCH_ROWS).map(({ key }) => keyText(key))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys).toHaveLength(1 + 2 + 2 + 4 + 2 + 3)
  })

  it('runs only what the rows need', () => {
    expect(plan(['peers']).map(({ key }) => key.kind)).toEqual(['shared-first', 'once', ...Array(4).fill('peer')])
    expect(plan(['memory']).map(({ key }) => keyText(key))).toEqual([
      'view 2,048 + 256',
      'view-in-one 2,048 + 256',
      'full-context 16,384',
    ])
    expect(plan(['load', 'prefill', 'cores', 'prefix-cache'])).toEqual([])
  })

  it('runs long histories less often', () => {
    expect([1024, 8192, 16_384].map((tokens) => repeatsOfHistory(tokens, 5))).toEqual([5, 3, 2])
  })
})

const SETTING: BenchSetting = {
  command: 'keepready bench extract',
  date: '2026-01-01 00:00',
  versions: 'keepready 0.1.0',
  machine: 'two cores',
  model: 'SmolLM2-135M-Instruct in /m',
  layer: 20,
  repeats: 2,
  quick: false,
  loadPerCore: 3,
}

describe('cardText', () => {
  const card = cardText({ setting: SETTING, record: RECORD, figures: figuresOf(ALL) })

  it('shows every arm with median and spread, and marks the scaled ones', () => {
    expect(card).toMatch(/naive 2,048 \+ 16 x 256 \* +36,864 +2 +5,610 +5,500-5,720 +5,100/)
    expect(card).toMatch(/full-context 16,384 +2,304 +1 .* 1600 +200 +100 +70 +300/)
    expect(card).toContain('* ran some of the views')
  })

  it('says what a reader must know: busy machine, earlier 4-bit weights, missing peers, equal vectors', () => {
    expect(card).toContain('BUSY')
    expect(card).toContain('were 4-bit before')
    expect(card).toContain('llama.cpp unavailable: not installed')
    expect(card).toContain('bit for bit: yes')
    expect(card).toContain('transformers.js gives the same hidden states: lowest cosine 1.000000')
  })

  it('shows what was missed', () => {
    expect(card).toMatch(/lowest of S = 256\.\.512 +0\.88 +>= 0\.9 +NO/)
  })
})

describe('agreementOf', () => {
  it('tells other bits from the same', () => {
    const [naive, ...rest] = RECORD.arms
    const changed = naive === undefined ? [] : [{ ...naive, hidden: [Float32Array.of(3, 4.5)] }]
    expect(agreementOf({ arms: [...changed, ...rest] }).bitEqual).toBe(false)
    expect(agreementOf({ arms: [] })).toEqual({ bitEqual: null, peers: [] })
  })
})

describe('benchReport', () => {
  it('is one page without scripts or requests, with the scaling plots and every figure', () => {
    const page = benchReport({
      setting: { ...SETTING, command: 'x <script>' },
      record: RECORD,
      figures: figuresOf(ALL),
    })
    expect(page).not.toMatch(/<script|src=|href=/)
    expect(page).toContain('x &lt;script&gt;')
    expect(page).toContain('<figure id="time"')
    expect(page).toContain('<figure id="memory"')
    for (const { name } of figuresOf(ALL)) expect(page).toContain(name)
  })

  it('draws measured points and the fit, and plots stand alone with colours for light and dark', () => {
    const [time] = benchPlots(RECORD)
    const svg = standaloneSvg(time?.svg ?? '')
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^>]*><style>/)
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(svg).not.toContain('color:currentColor')
    const attributes = [...(/^<svg([^>]*)>/.exec(svg)?.[1] ?? '').matchAll(/ ([a-z-]+)=/gi)].map(([, name]) => name)
    expect(new Set(attributes).size).toBe(attributes.length)
    expect(svg.match(/<circle/g)).toHaveLength(3 + 1 + 2 + 2)
  })

  it('draws nothing of what was not measured', () => {
    expect(benchPlots({ ...RECORD, arms: [] })).toEqual([])
  })
})
