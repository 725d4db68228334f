import { describe, expect, it } from 'vitest'
import type { MachineSetting } from '../../../src/cli/bench-setting.ts'
import { trainCard } from '../../../src/cli/bench-train-card.ts'
import { trainFigures, wholeJobMs } from '../../../src/cli/bench-train-figures.ts'
import { type JobCost, TRAIN_BENCH_ROWS, type TrainBenchRecord } from '../../../training/bench/bench-record.ts'

const step = (pairs: number, stepMs: number) => ({ pairs, buildMs: 100, stepMs, stepCpuMs: stepMs })
const job = (stepsMs: number): JobCost => ({
  stages: [
    { name: 'open', ms: 1000, cpuMs: 1000, measured: 1, whole: 1 },
    { name: 'steps', ms: stepsMs, cpuMs: stepsMs / 2, measured: 100, whole: 10_000 },
  ],
  stepMs: [stepsMs / 2, stepsMs / 2],
  samples: 100,
  wholeSamples: 10_000,
  peakBytes: 1.5e9,
  anonymousBytes: 1e9,
})

const RECORD: TrainBenchRecord = {
  pairs: 244_320,
  steps: [
    {
      engine: 'ort-cpu',
      derivatives: 'explicit',
      scheme: 'dense256',
      costs: [step(256, 400), step(256, 500)],
      unavailable: null,
    },
    {
      engine: 'tfjs-wasm',
      derivatives: 'explicit',
      scheme: 'dense256',
      costs: [step(256, 2000), step(256, 1500)],
      unavailable: null,
    },
    { engine: 'tfjs-wasm', derivatives: 'plain', scheme: 'dense256', costs: [], unavailable: 'it is not installed' },
    { engine: 'ort-cpu', derivatives: 'explicit', scheme: 'mix4', costs: [step(1000, 400)], unavailable: null },
  ],
  jobs: [{ recipe: 'once', costs: [job(5000), job(9000)] }],
  scoring: [{ denseMs: 60, projectedMs: 3, difference: 1e-7 }],
  memory: [{ recipe: 'shared-first', addedBytes: 40e6, vectorBytes: 2e9 }],
  metrics: [{ ms: 6000, pairs: 244_320 }],
}

const figures = (judged: boolean) => trainFigures({ record: RECORD, rows: TRAIN_BENCH_ROWS, judged })
const byName = (part: string) => figures(true).find(({ name }) => name.includes(part))

describe('trainFigures', () => {
  it('compares engines within a round, and says why one is missing', () => {
    expect(byName('explicit transposes')).toMatchObject({ row: 'engines', value: 4, goal: 4, ok: true })
    expect(byName('its own derivatives')).toMatchObject({
      value: null,
      ok: null,
      note: 'unavailable: it is not installed',
    })
  })

  it('scales each stage of a job by what it grows with, and takes the slower process', () => {
    expect(wholeJobMs(job(5000))).toBe(501_000)
    const hours = byName('hours for 5 rotations')
    expect(hours?.value).toBeCloseTo((3 * 901_000) / 3_600_000, 3)
    expect(hours).toMatchObject({ goal: 0.8, bound: 'at most', ok: true, note: expect.stringContaining('from 1.0 %') })
    expect(byName('peak memory of both processes')).toMatchObject({ value: 3, goal: 4, ok: true })
  })

  it('counts building a batch into its samples per second', () => {
    expect(byName('mix4')).toMatchObject({ value: 2000, goal: null })
  })

  it('judges only at the size of the paper', () => {
    expect(byName('seconds for metrics')).toMatchObject({ value: 6, goal: 5, ok: false })
    expect(byName('cached projections')).toMatchObject({ value: 20, ok: true })
    expect(byName('private memory')).toMatchObject({ value: 40, ok: true })
    expect(figures(false).every(({ goal, ok }) => goal === null && ok === null)).toBe(true)
  })
})

describe('trainCard', () => {
  it('shows arms, stages and figures', () => {
    const machine: MachineSetting = { command: 'x', date: 'd', versions: 'v', machine: 'm', loadPerCore: 2 }
    const setting = { ...machine, hiddenSize: 4096, width: 2048, repeats: 5, quick: false }
    const card = trainCard({ setting, record: RECORD, figures: figures(true) })
    expect(card).toContain('BUSY      2.0 runnable processes per core')
    expect(card).toMatch(/tfjs-wasm, its own derivatives +dense256 .*unavailable/)
    expect(card).toMatch(/once, process 2 +1\.0 +900\.0 +901 +4,500 +1\.50/)
    expect(card).toMatch(/seconds for metrics with 1,000 bootstrap draws +6 +<= 5 +NO/)
  })
})
