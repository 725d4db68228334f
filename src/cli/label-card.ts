/**
 * The data card of labels as Markdown: every figure of it comes from one command.
 */
import type { SourceCurves } from '../../data/annotate/label-curves.ts'
import {
  MIN_FUTURE_INTERACTIONS,
  type NamedCount,
  type PairCount,
  prevalence,
} from '../../data/annotate/label-stats.ts'
import type { ExpectedCount, WeakAgreement } from '../../data/annotate/weak-labels.ts'

export interface LabelCard {
  readonly annotators: readonly string[]
  readonly curves: readonly SourceCurves[]
  readonly compactions: readonly WeakAgreement[]
  readonly mistakes: readonly WeakAgreement[]
  readonly writes: readonly WeakAgreement[]
}

/** @param figure name of the SVG beside the document */
export function labelCardMarkdown(card: LabelCard, figure: string): string {
  const [all] = card.curves
  if (all === undefined) return ''
  return [
    `Labels by ${card.annotators.join(', ')}: ${whole(all.runs)} runs, ${whole(all.interactions)} interactions, ${whole(all.all.pairs)} pairs.`,
    '',
    '### Prevalence and simple rankings, per source',
    '',
    `"To come" are pairs with ${MIN_FUTURE_INTERACTIONS} or more interactions after the checkpoint. AUROC: age or length alone, mean over runs with both classes.`,
    '',
    table(
      ['source', 'runs', 'pairs', 'READY', 'to come', 'READY', 'AUROC age', 'AUROC length'],
      card.curves.map((source) => [
        source.name,
        whole(source.runs),
        whole(source.all.pairs),
        percent(source.all),
        whole(source.withFuture.pairs),
        percent(source.withFuture),
        area(source.ageAuroc),
        area(source.lengthAuroc),
      ]),
    ),
    '',
    '### Curves',
    '',
    `![Share of READY by age, place and length, per source](${figure})`,
    '',
    `Sources of at least ${MIN_CURVE_PAIRS} pairs; "-" stands for fewer than ${MIN_CELL_PAIRS}.`,
    '',
    'By age c - i:',
    '',
    curveTable(card.curves, (source) => source.age),
    '',
    'By place i / c in the prefix:',
    '',
    curveTable(card.curves, (source) => source.position),
    '',
    'By length of the source, in characters:',
    '',
    curveTable(card.curves, (source) => source.sourceLength),
    '',
    '### Against the weak labels of the logs',
    '',
    "READY, and in brackets what the source's age curve alone would give for these pairs.",
    '',
    weakTable(
      ['source', 'compactions', 'replaced by the program', 'kept by it'],
      card.compactions,
      'no compaction in these runs',
    ),
    '',
    weakTable(
      ['source', 'mistake steps', 'mistake step', 'step before or after'],
      card.mistakes,
      'no mistake step in these runs',
    ),
    '',
    weakTable(
      ['source', 'write calls', 'look-ups, all writes done', 'look-ups, a write to come'],
      card.writes,
      'no write call in these runs',
    ),
  ].join('\n')
}

const BEGIN = '<!-- card:begin, made by `keepready labels card`: do not edit between these two lines -->'
const END = '<!-- card:end -->'

/** The document with the text between its two marks replaced; null when it has no such marks. */
export function replaceCard(document: string, card: string): string | null {
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END)
  if (begin === -1 || end < begin) return null
  return `${document.slice(0, begin + BEGIN.length)}\n\n${card}\n\n${document.slice(end)}`
}

/** Fewer pairs say nothing about a share. Assumption. */
const MIN_CURVE_PAIRS = 500
const MIN_CELL_PAIRS = 30

function curveTable(curves: readonly SourceCurves[], of: (source: SourceCurves) => readonly NamedCount[]): string {
  const [first] = curves
  if (first === undefined) return ''
  return table(
    ['source', ...of(first).map((bucket) => bucket.name)],
    curves
      .filter((source) => source.all.pairs >= MIN_CURVE_PAIRS || source === first)
      .map((source) => [
        source.name,
        ...of(source).map((count) => (count.pairs < MIN_CELL_PAIRS ? '-' : percent(count))),
      ]),
  )
}

function weakTable(head: readonly string[], rows: readonly WeakAgreement[], none: string): string {
  if (rows.length === 0) return `(${none})`
  return table(
    head,
    rows.map(({ source, marks, runs, more, less }) => [
      source,
      `${whole(marks)} in ${whole(runs)} runs`,
      expectedText(more),
      expectedText(less),
    ]),
  )
}

function expectedText(count: ExpectedCount): string {
  if (count.pairs === 0) return '-'
  return `${percent(count)} (${share(count.expected / count.pairs)}) of ${whole(count.pairs)}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map((_, at) => (at === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

function percent(count: PairCount): string {
  return count.pairs === 0 ? '-' : share(prevalence(count))
}

function share(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}

function area(value: number | null): string {
  return value === null ? '-' : value.toFixed(2)
}

function whole(value: number): string {
  return value.toLocaleString('en-US')
}
