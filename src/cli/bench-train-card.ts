/** The card of keepready bench train. Pure. */
import { summarise } from '../../models/frozen-lm/bench-statistics.ts'
import type { TrainBenchRecord } from '../../training/bench/bench-record.ts'
import { figureTable } from './bench-figure.ts'
import { busyLine, type MachineSetting, machineLines } from './bench-setting.ts'
import { type TrainFigure, wholeJobMs } from './bench-train-figures.ts'
import { createResultTable } from './result-table.ts'

export interface TrainBenchSetting extends MachineSetting {
  /** d and H. */
  readonly hiddenSize: number
  readonly width: number
  readonly repeats: number
  readonly quick: boolean
}

export function trainCard(card: {
  readonly setting: TrainBenchSetting
  readonly record: TrainBenchRecord
  readonly figures: readonly TrainFigure[]
}): string {
  const { setting, record, figures } = card
  return [headText(setting, record), stepTable(record), jobTable(record), figureTable(figures)]
    .filter((part) => part !== '')
    .join('\n\n')
}

function headText(setting: TrainBenchSetting, { pairs }: TrainBenchRecord): string {
  const { hiddenSize, width, repeats, quick } = setting
  return [
    `keepready bench train   ${setting.date}`,
    ...machineLines(setting),
    `  data      made: ${pairs.toLocaleString('en-US')} pairs, inputs 3 x ${hiddenSize.toLocaleString('en-US')}, width ${width.toLocaleString('en-US')}`,
    `  repeats   ${repeats}, arms interleaved, each in a process of its own with one thread; medians`,
    ...(quick ? ['  QUICK     a smoke run: small shapes, nothing is judged'] : []),
    ...busyLine(setting, 'trust ratios, not times'),
  ].join('\n')
}

function stepTable({ steps }: TrainBenchRecord): string {
  if (steps.length === 0) return ''
  const table = createResultTable([
    'engine',
    'batch',
    '>pairs',
    '>build ms',
    '>step ms',
    '>min-max',
    '>samples/s',
    '>runs',
  ])
  for (const { engine, derivatives, scheme, costs, unavailable } of steps) {
    const name = derivatives === 'plain' ? `${engine}, its own derivatives` : engine
    const [pairs, build, step] = (['pairs', 'buildMs', 'stepMs'] as const).map((key) =>
      summarise(costs.map((cost) => cost[key])),
    )
    const rate = summarise(costs.map((cost) => (1000 * cost.pairs) / (cost.buildMs + cost.stepMs)))
    table.push(
      unavailable === null
        ? [
            name,
            scheme,
            whole(pairs?.median),
            whole(build?.median),
            whole(step?.median),
            `${whole(step?.min)}-${whole(step?.max)}`,
            whole(rate.median),
            costs.length,
          ]
        : [name, scheme, '-', '-', '-', 'unavailable', '-', 0],
    )
  }
  return table.toString()
}

function jobTable({ jobs }: TrainBenchRecord): string {
  if (jobs.length === 0) return ''
  const names = jobs[0]?.costs[0]?.stages.map(({ name }) => name) ?? []
  const table = createResultTable([
    'a rotation, seconds',
    ...names.map((name) => `>${name}`),
    '>whole',
    '>step ms',
    '>GB',
  ])
  for (const { recipe, costs } of jobs)
    for (const [index, cost] of costs.entries())
      table.push([
        `${recipe}, process ${index + 1}`,
        ...cost.stages.map((stage) => ((stage.ms * stage.whole) / Math.max(1, stage.measured) / 1000).toFixed(1)),
        (wholeJobMs(cost) / 1000).toFixed(0),
        whole(summarise(cost.stepMs).median),
        cost.peakBytes === null ? '-' : (cost.peakBytes / 1e9).toFixed(2),
      ])
  return table.toString()
}

function whole(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en-US')
}
