/** The card of keepready bench extract: what was measured, on what, and every figure beside its goal. Pure. */
import {
  type ExtractionBenchRecord,
  keyText,
  type MeasuredArm,
  PEERS,
  type PeerName,
} from '../../models/frozen-lm/bench-record.ts'
import { summarise } from '../../models/frozen-lm/bench-statistics.ts'
import { type BenchFigure, figureTable } from './bench-figure.ts'
import { busyLine, type MachineSetting, machineLines } from './bench-setting.ts'
import { createResultTable } from './result-table.ts'

export interface BenchSetting extends MachineSetting {
  readonly model: string
  readonly layer: number
  readonly repeats: number
  readonly quick: boolean
}

export function cardText(card: {
  readonly setting: BenchSetting
  readonly record: ExtractionBenchRecord
  readonly figures: readonly BenchFigure[]
}): string {
  const { setting, record, figures } = card
  const parts = [headText(setting), armTable(record), prefillTable(record), figureTable(figures), notesText(card)]
  return parts.filter((part) => part !== '').join('\n\n')
}

function headText(setting: BenchSetting): string {
  return [
    `keepready bench extract   ${setting.date}`,
    ...machineLines(setting),
    `  model     ${setting.model}, layer ${setting.layer}`,
    `  repeats   ${setting.repeats}, arms interleaved, each in a process of its own with one thread; medians`,
    ...(setting.quick ? ['  QUICK     a smoke run: small shapes, nothing is judged'] : []),
    ...busyLine(setting, 'trust CPU ms, not wall ms'),
  ].join('\n')
}

function armTable({ arms }: ExtractionBenchRecord): string {
  if (arms.length === 0) return ''
  const hasGpu = arms.some((arm) => arm.memory?.gpuBytes != null)
  const table = createResultTable([
    'arm, per checkpoint',
    '>tokens',
    '>runs',
    '>wall ms',
    '>min-max',
    '>CPU ms',
    '>tokens/s',
    '>peak MB',
    '>anon',
    '>file',
    '>KV',
    '>workspace',
    ...(hasGpu ? ['>GPU MB'] : []),
  ])
  table.push(...arms.map((arm) => armRow(arm, hasGpu)))
  return table.toString()
}

function armRow({ key, costs, tokens, ranTokens, memory }: MeasuredArm, hasGpu: boolean): string[] {
  const wall = summarise(costs.map((cost) => cost.wallMs))
  const cpu = summarise(costs.map((cost) => cost.cpuMs))
  const mb = (bytes: number | null | undefined): string => (bytes == null ? '-' : (bytes / 1e6).toFixed(0))
  return [
    `${keyText(key)}${ranTokens < tokens ? ' *' : ''}`,
    tokens.toLocaleString('en-US'),
    String(wall.count),
    formatMs(wall.median),
    `${formatMs(wall.min)}-${formatMs(wall.max)}`,
    formatMs(cpu.median),
    formatMs((1000 * tokens) / wall.median),
    mb(memory?.peakBytes),
    mb(memory?.anonymousBytes),
    mb(memory?.fileBytes),
    key.kind === 'peer' ? '-' : mb(memory?.stateBytes),
    key.kind === 'peer' ? '-' : mb(memory?.workspaceBytes),
    ...(hasGpu ? [mb(memory?.gpuBytes)] : []),
  ]
}

function prefillTable({ prefill, matMulGflops }: ExtractionBenchRecord): string {
  if (prefill.length === 0) return ''
  const table = createResultTable(['prefill, one thread', '>GFLOP/s of CPU time', '>over 2048^3 MatMul', '>min-max'])
  for (const { tokens, gflops, share } of prefill) {
    const [rate, part] = [summarise(gflops), summarise(share)]
    const range = `${part.min.toFixed(2)}-${part.max.toFixed(2)}`
    table.push([`S = ${tokens}`, rate.median.toFixed(1), part.median.toFixed(2), range])
  }
  const probe = summarise(matMulGflops)
  table.push(['2048^3 MatMul', probe.median.toFixed(1), '1', `${probe.min.toFixed(1)}-${probe.max.toFixed(1)} GFLOP/s`])
  return table.toString()
}

function notesText({ setting, record }: Parameters<typeof cardText>[0]): string {
  const agreement = agreementOf(record)
  return [
    ...(record.arms.some((arm) => arm.ranTokens < arm.tokens)
      ? ['* ran some of the views of a checkpoint; scaled up to all of them by tokens']
      : []),
    ...(record.arms.some((arm) => arm.memory !== null)
      ? [
          'peak = resident, by the kernel; anon and file = its split in the largest sample; workspace = peak - loaded model - KV of the longest sequence',
        ]
      : []),
    ...(record.arms.some((arm) => arm.key.kind === 'full-context')
      ? ['full contexts beyond the context length of the model are timed only: their vectors mean nothing']
      : []),
    ...(agreement.bitEqual === null
      ? []
      : [`naive views equal shared-first bit for bit: ${agreement.bitEqual ? 'yes' : 'NO'}`]),
    ...agreement.peers.map(
      ({ peer, cosine }) => `${peer} gives the same hidden states: lowest cosine ${cosine.toFixed(6)}`,
    ),
    ...record.unavailablePeers.map(({ peer, reason }) => `${peer} unavailable: ${reason}`),
    ...(/SmolLM2/.test(setting.model)
      ? ['These SmolLM2 weights were 4-bit before (Q4_1, widened to F16); all arms hold the same ones.']
      : []),
  ].join('\n')
}

export interface Agreement {
  /** Null where one of the two did not run. */
  readonly bitEqual: boolean | null
  /** Lowest cosine between a peer's vectors and ours, over the views that both ran. */
  readonly peers: readonly { readonly peer: PeerName; readonly cosine: number }[]
}

/** Whether arms that read the same views gave the same vectors. */
export function agreementOf({ arms }: Pick<ExtractionBenchRecord, 'arms'>): Agreement {
  const shared = arms.find((arm) => arm.key.kind === 'shared-first')
  const naive = arms.find((arm) => arm.key.kind === 'naive')
  const bitEqual =
    shared === undefined || naive === undefined || naive.hidden.length === 0
      ? null
      : naive.hidden.every((values, i) => values.every((value, k) => Object.is(value, shared.hidden[i]?.[k])))
  const peers = PEERS.flatMap((peer) => {
    const vectors = arms
      .filter((arm) => arm.key.kind === 'peer' && arm.key.peer === peer)
      .flatMap(({ hidden }) => [hidden])
    if (shared === undefined || vectors.length === 0) return []
    const cosines = vectors.flatMap((hidden) => hidden.map((values, i) => cosineOf(values, shared.hidden[i])))
    return [{ peer, cosine: Math.min(...cosines) }]
  })
  return { bitEqual, peers }
}

function cosineOf(a: Float32Array, b: Float32Array | undefined): number {
  if (b === undefined || a.length !== b.length) return Number.NaN
  let [ab, aa, bb] = [0, 0, 0]
  for (const [i, x] of a.entries()) {
    const y = b[i] ?? 0
    ab += x * y
    aa += x * x
    bb += y * y
  }
  return ab / Math.sqrt(aa * bb)
}

function formatMs(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 10 ? 1 : 2)
}
