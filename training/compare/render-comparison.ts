/**
 * A comparison as one self-contained page, and each figure's data as a file beside it. Pure: record -> text.
 */
import * as Plot from '@observablehq/plot'
import { formatEstimate, formatPercent } from '../evaluation/format-estimate.ts'
import { type Figure, figureFile, figureHtml, figureIndex, figuresHtml } from '../report/figure.ts'
import { forestPlot } from '../report/forest-figure.ts'
import { type Html, html } from '../report/html.ts'
import { renderPage } from '../report/page.ts'
import { draw, lineSample, shareAxis, strokeOf } from '../report/plots.ts'
import type { Report } from '../report/render-report.ts'
import { lineStyleOf } from '../report/series.ts'
import { numberCell, VERDICT_CLASS } from '../report/tables.ts'
import {
  COMPARED_METRICS,
  type ComparedMetric,
  type ComparedRunRecord,
  type KindComparison,
  type RunComparison,
  type RunDifference,
} from './comparison-record.ts'
import { METRIC_WORDS, signedDifference } from './comparison-words.ts'

const FOREST_METRICS = ['withinAuroc', 'averagePrecision'] as const satisfies readonly ComparedMetric[]

export function renderComparison(comparison: RunComparison): Report {
  const { runs, kinds, matched, bootstrap } = comparison
  const sections = kinds.map((kind, at) => kindSection(kind, at + 1, runs))
  const figures = sections.flatMap((section) => section.figures)
  const [first, ...others] = runs
  const body = html`
<h1>Do these runs differ?</h1>
<p class="sub">keepready comparison of ${others.map((run) => run.name).join(', ')} with ${first?.name ?? ''}</p>
<div class="summary" id="summary">${comparison.summary.map((sentence) => html`<p>${sentence}</p>`)}</div>
<ul class="note" id="caveats">${comparison.caveats.map((caveat) => html`<li>${caveat}</li>`)}</ul>
<h2 id="runs">The runs</h2>
${runTable(runs)}
${sections.map((section) => section.body)}
<h2 id="origin">Where these numbers come from</h2>
<dl><dt>common pairs</dt><dd>${matched.pairs.toLocaleString('en-US')} held out by every run, ${matched.headlinePairs.toLocaleString('en-US')} of them headline pairs, of ${matched.runs} runs in ${matched.groups} groups (${matched.readyGroups} with READY)</dd>
<dt>bootstrap</dt><dd>${bootstrap.resamples} resamples of groups per rotation, seed ${bootstrap.seed}, percentile 95 %, the same draws for every run</dd></dl>
${figureIndex(figures)}
<p class="note">All numbers of this page, and more, stand in <a href="comparison.json">comparison.json</a> beside it.</p>`
  return { page: renderPage('keepready comparison', body), figures: figures.map(figureFile) }
}

function runTable(runs: readonly ComparedRunRecord[]): Html {
  const names = Object.keys(runs[0]?.settings ?? {})
  const differs = names.filter((name) => new Set(runs.map((run) => run.settings[name])).size > 1)
  const same = names.filter((name) => !differs.includes(name))
  return html`<div class="scroll"><table>
<caption>What differs between the runs</caption>
<thead><tr><th>run</th>${differs.map((name) => html`<th>${name}</th>`)}<th class="number">tokens computed</th><th class="number">held-out pairs</th><th class="number">not in all runs</th></tr></thead>
<tbody>${runs.map(
    (run) =>
      html`<tr><th scope="row">${run.name}</th>${differs.map((name) => html`<td>${run.settings[name] ?? ''}</td>`)}<td class="number">${run.computedTokens.toLocaleString('en-US')}</td><td class="number">${run.heldOutPairs.toLocaleString('en-US')}</td><td class="number">${run.unmatchedPairs.toLocaleString('en-US')}</td></tr>\n`,
  )}</tbody></table></div>
<dl>${runs.map((run) => html`<dt>${run.name}</dt><dd><code>${run.dataset}</code>, <code>${run.router}</code></dd>`)}</dl>
${
  same.length === 0
    ? null
    : html`<details><summary>What is the same</summary><dl>${same.map((name) => html`<dt>${name}</dt><dd>${runs[0]?.settings[name] ?? ''}</dd>`)}</dl></details>`
}`
}

function kindSection(
  kind: KindComparison,
  number: number,
  runs: readonly ComparedRunRecord[],
): { readonly body: Html; readonly figures: readonly Figure[] } {
  const first = runs[0]?.name ?? ''
  const forests = FOREST_METRICS.map((metric) => forestFigure(kind, metric, number, first))
  const stability = kind.stability.length === 0 ? [] : [stabilityFigure(kind, number, first)]
  const domains = kind.values[0]?.scopes.filter(({ scope }) => scope !== 'all').map(({ scope }) => scope) ?? []
  return {
    figures: [...forests, ...stability],
    body: html`<h2 id="inputs-${number}">Routers on ${kind.inputs}</h2>
${differenceTable(kind, 'all')}
${valueTable(kind, 'all')}
${forests.map(figureHtml)}
${domains.map((scope) => html`<details><summary>${scope}</summary>${differenceTable(kind, scope)}${valueTable(kind, scope)}</details>`)}
${
  stability.length === 0
    ? null
    : html`<h3>Do the same interactions get called READY?</h3>
${stabilityTable(kind)}
${figuresHtml(stability)}`
}`,
  }
}

function differenceTable(kind: KindComparison, scope: string): Html {
  const rows = kind.differences.filter((one) => one.scope === scope)
  const others = [...new Set(rows.map((row) => row.run))]
  return html`<div class="scroll"><table>
<caption>Difference from ${rows[0]?.against ?? ''}, with its paired 95 % interval</caption>
<thead><tr><th>run</th>${COMPARED_METRICS.map((metric) => html`<th class="number">${METRIC_WORDS[metric]}</th>`)}<th>${METRIC_WORDS.withinAuroc}, in words</th></tr></thead>
<tbody>${others.map((run) => {
    const of = (metric: ComparedMetric): RunDifference | undefined =>
      rows.find((one) => one.run === run && one.metric === metric)
    const headline = of('withinAuroc')
    return html`<tr><th scope="row">${run}</th>${COMPARED_METRICS.map((metric) => {
      const one = of(metric)
      return one === undefined ? html`<td></td>` : html`<td class="number">${signedDifference(one)}</td>`
    })}<td class="words"><span class="${headline === undefined ? '' : VERDICT_CLASS[headline.verdict]}">${headline?.words ?? ''}</span></td></tr>\n`
  })}</tbody></table></div>`
}

function valueTable(kind: KindComparison, scope: string): Html {
  return html`<div class="scroll"><table>
<caption>Values of each run on the common pairs, with 95 % intervals</caption>
<thead><tr><th>run</th>${COMPARED_METRICS.map((metric) => html`<th class="number">${METRIC_WORDS[metric]}</th>`)}<th class="number">prevalence</th></tr></thead>
<tbody>${kind.values.map(({ run, scopes }) => {
    const metrics = scopes.find((one) => one.scope === scope)?.metrics
    return html`<tr><th scope="row">${run}</th>${COMPARED_METRICS.map((metric) => html`<td class="number">${metrics === undefined ? '–' : formatEstimate(metrics[metric])}</td>`)}<td class="number">${formatPercent(metrics?.prevalence.value ?? null)}</td></tr>\n`
  })}</tbody></table></div>`
}

function forestFigure(
  kind: KindComparison,
  metric: (typeof FOREST_METRICS)[number],
  number: number,
  first: string,
): Figure {
  const differences = kind.differences.filter((one) => one.metric === metric)
  const runs = [...new Set(differences.map((one) => one.run))]
  const rows = differences.map(({ run, scope, difference, interval }) => ({
    band: scope === 'all' ? 'all domains' : scope,
    name: run,
    colour: lineStyleOf('', runs.indexOf(run)).colour,
    value: difference,
    interval,
  }))
  return {
    id: `difference-${number}-${metric}`,
    title: `Difference in ${METRIC_WORDS[metric]} from ${first}`,
    caption: `Right of the dashed line a run is better than ${first}. Bars are paired 95 % intervals; a dot without a bar has fewer than 10 test groups with a READY pair.`,
    wide: true,
    svg: forestPlot(rows, {
      label: `Difference in ${METRIC_WORDS[metric]} by run and domain`,
      axis: `difference in ${METRIC_WORDS[metric]}`,
      reference: 0,
      domain: [-0.05, 0.05],
    }),
    data: { inputs: kind.inputs, metric, against: first, differences },
  }
}

function stabilityTable(kind: KindComparison): Html {
  return html`<div class="scroll"><table>
<caption>Headline decisions of rotations in which both runs have a threshold, each run at its own</caption>
<thead><tr><th>run</th><th>against</th><th>point</th><th class="number">pairs</th><th class="number">decisions kept</th><th class="number">READY kept</th><th class="number">KEEP kept</th><th class="number">median shift, logits</th><th class="number">correlation</th></tr></thead>
<tbody>${kind.stability.map(
    (one) =>
      html`<tr><th scope="row">${one.run}</th><td>${one.against}</td><td>${one.operatingPoint}</td><td class="number">${one.pairs.toLocaleString('en-US')}</td>${numberCell(one.kept)}${numberCell(one.readyKept)}${numberCell(one.keepKept)}${numberCell(one.shiftQuantiles.find(({ level }) => level === 0.5)?.shift ?? null)}${numberCell(one.correlation)}</tr>\n`,
  )}</tbody></table></div>`
}

function stabilityFigure(kind: KindComparison, number: number, first: string): Figure {
  const lines = kind.stability.map((one, at) => ({ one, style: lineStyleOf('', at) }))
  return {
    id: `stability-${number}`,
    title: 'Decisions kept by margin',
    caption: `Decisions of ${first} in ten equal groups by their distance from its threshold. Near it they change sides easily; far from it they should not.`,
    legend: html`<ul class="legend">${lines.map(({ one, style }) => html`<li>${lineSample(style)}${one.run}</li>`)}</ul>`,
    svg: draw(
      'Share of decisions kept by margin',
      {
        x: { label: `margin in ${first}, logits`, labelAnchor: 'center', labelArrow: 'none', ticks: 6, nice: true },
        y: shareAxis('share of decisions kept'),
      },
      lines.flatMap(({ one, style }) => [
        Plot.line(one.byMargin, { x: 'margin', y: 'kept', ...strokeOf(style) }),
        Plot.dot(one.byMargin, { x: 'margin', y: 'kept', r: 3, fill: style.colour }),
      ]),
    ),
    data: { inputs: kind.inputs, against: first, stability: kind.stability },
  }
}
