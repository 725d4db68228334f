/**
 * An evaluation record as one self-contained page, and each figure's data as a file beside it. Pure: record -> text; no
 * script, nothing loaded from anywhere. Every name that comes from logs is escaped by html.ts, and a content security
 * policy stands behind that.
 */
import type { EvaluationRecord, PredictorRecord, ScopeMetrics } from '../evaluation/evaluation-record.ts'
import type { OperatingPointDelays } from '../evaluation/router-study-record.ts'
import type { StudyRecord } from '../studies/study-record.ts'
import { scoreByAgeFigure } from './age-figure.ts'
import { precisionCoverageFigure, precisionRecallFigure, rocFigure } from './curve-figures.ts'
import { delayFigure, marginFigure, sensitivityFigure } from './decision-figures.ts'
import { delayTable, perturbationTable, policyTable } from './decision-tables.ts'
import { domainFigure } from './domain-figure.ts'
import { type Figure, type FigureFile, figureFile, figureHtml, figureIndex, figuresHtml } from './figure.ts'
import { type Html, html } from './html.ts'
import { renderPage } from './page.ts'
import { lineSample } from './plots.ts'
import { reliabilityFigures } from './reliability-figures.ts'
import { type Series, seriesOf } from './series.ts'
import { stripFigures } from './strip-figures.ts'
import { studyFigures } from './study-figures.ts'
import { seedTable, studyDifferenceTable } from './study-tables.ts'
import {
  calibrationTable,
  domainTable,
  headlineTable,
  lengthTable,
  operatingPointTable,
  rotationTable,
  verdictTable,
} from './tables.ts'

export interface Report {
  readonly page: string
  readonly figures: readonly FigureFile[]
}

/** A part of the page: what it shows and which figures stand in it. */
interface Section {
  readonly body: Html
  readonly figures: readonly Figure[]
}

/** @param studies of the same kind of router, each drawn in a section of its own */
export function renderReport(record: EvaluationRecord, studies: readonly StudyRecord[] = []): Report {
  const series = seriesOf(record)
  const served = record.predictors.find((one) => one.kind === 'router' && one.name === record.router.served)
  const sections = [
    verdictsSection(record),
    curvesSection(record, series),
    domainsSection(record),
    ...studies.map(studySection),
    stripsSection(record),
    headlineSection(record),
    pointsSection(record, served),
    detailsSection(record),
  ]
  const figures = sections.flatMap((section) => section.figures)
  const body = html`
<h1>Which past interactions are no longer needed in full?</h1>
<p class="sub">keepready evaluation of a router on ${record.dataset.model}, layer ${record.dataset.layer}, recipe ${record.dataset.recipe}</p>
<div class="summary" id="summary">${record.summary.map((sentence) => html`<p>${sentence}</p>`)}</div>
<ul class="note" id="caveats">${record.caveats.map((caveat) => html`<li>${caveat}</li>`)}</ul>
${sections.map((section) => section.body)}
${originSection(record, figures)}`
  return { page: renderPage('keepready evaluation', body), figures: figures.map(figureFile) }
}

function verdictsSection(record: EvaluationRecord): Section {
  return {
    figures: [],
    body: html`<h2 id="verdicts">Does the router beat the baselines?</h2>
<p>Each cell is router minus baseline. Only an interval above 0 counts as beating.</p>
${verdictTable(record)}`,
  }
}

function headlineSection(record: EvaluationRecord): Section {
  return {
    figures: [],
    body: html`<h2 id="headline">Headline numbers</h2>
<p>Inside each held-out run: how often does a READY pair score above a KEEP pair (chance .5)? The other columns rank pairs of all runs together, where a score that only recognises the domain already looks good. Lift is PR-AUC over prevalence: about 1 for chance, see the row random. Each run weighs the same unless a column says pair-weighted.</p>
${headlineTable(record, 'headline')}
<details><summary>The same on all pairs, those near the end of a run included</summary>${headlineTable(record, 'all')}</details>
<h3 id="calibration">Calibration</h3>
${calibrationTable(record)}`,
  }
}

function curvesSection(record: EvaluationRecord, series: readonly Series[]): Section {
  const routers = routersOf(record)
  const prevalence = allScope(routers[0]?.subsets.headline.scopes ?? [])?.metrics.prevalence.value ?? null
  const figures = [
    rocFigure(series),
    precisionRecallFigure(series, prevalence),
    precisionCoverageFigure(series, prevalence),
    ...reliabilityFigures(series),
    ...routers.map(scoreByAgeFigure),
  ]
  return {
    figures,
    body: html`<h2 id="figures">Curves</h2>
${seriesLegend(series)}
${figuresHtml(figures)}`,
  }
}

function domainsSection(record: EvaluationRecord): Section {
  const scopes = (record.predictors[0]?.subsets.headline.scopes ?? []).filter((scope) => scope.kind === 'domain')
  const figure = domainFigure(record)
  return {
    figures: [figure],
    body: html`<h2 id="domains">By domain</h2>
${figureHtml(figure)}
${scopes.map((scope) => html`<details><summary>${scope.name}</summary>${domainTable(record, scope)}</details>`)}`,
  }
}

function pointsSection(record: EvaluationRecord, served: PredictorRecord | undefined): Section {
  const study = served?.study ?? null
  const name = served?.name ?? ''
  const figures =
    study === null
      ? []
      : [
          sensitivityFigure(name, study.policies),
          ...study.delays.filter(shownDelays(study.delays)).map((delays) => delayFigure(name, delays)),
          study.margins === null ? null : marginFigure(name, study.margins),
        ].filter((figure) => figure !== null)
  return {
    figures,
    body: html`<h2 id="operating-points">Operating points</h2>
<p>Thresholds are chosen on each rotation's validation part. Two errors are not equal: a false positive loses information for good, a missed READY costs tokens. Premature: of the interactions ever called READY, those called so before their boundary. Delay: checkpoints from the boundary to the first call, of the others. Caught: of the interactions that become READY, those called so.</p>
${operatingPointTable(record)}
<h3 id="policies">Threshold policies, ${name}</h3>
<p>Optimism: how much better a policy's own aim looks on validation than on test; above 0 the threshold does not hold what it promised.</p>
${policyTable(record)}
<h3 id="delays">Delay, ${name}</h3>
${delayTable(record)}
${figuresHtml(figures)}
${perturbationTable(record)}`,
  }
}

/** The default point and the one that calls most: two figures say what four would. */
function shownDelays(all: readonly OperatingPointDelays[]): (one: OperatingPointDelays) => boolean {
  const most = all.reduce<OperatingPointDelays | undefined>(
    (best, one) => (best === undefined || one.called > best.called ? one : best),
    undefined,
  )
  return (one) => one === all[0] || one === most
}

function studySection(study: StudyRecord, at: number): Section {
  const figures = studyFigures(study, at + 1)
  return {
    figures,
    body: html`<h2 id="study-${at + 1}">${study.title}</h2>
${study.summary.map((sentence) => html`<p>${sentence}</p>`)}
${figuresHtml(figures)}
${studyDifferenceTable(study)}
${seedTable(study)}
<ul class="note">${study.caveats.map((caveat) => html`<li>${caveat}</li>`)}</ul>
<p class="note">${study.dataset.model}, layer ${study.dataset.layer}, recipe ${study.dataset.recipe}; dataset <code>${study.dataset.directory}</code></p>`,
  }
}

function stripsSection(record: EvaluationRecord): Section {
  const figures = stripFigures(record.strips)
  return {
    figures,
    body:
      figures.length === 0
        ? html``
        : html`<h2 id="strips">Best and worst runs</h2>
<p>One held-out run each, scored by the served input (${record.router.served}): rows are interactions, columns are checkpoints, the stronger the blue the higher p. A good router is blue right of each boundary and pale left of it.</p>
${figuresHtml(figures)}`,
  }
}

function detailsSection(record: EvaluationRecord): Section {
  return {
    figures: [],
    body: html`<h2 id="details">By rotation and by length</h2>
${rotationTable(record)}
${lengthTable(record)}`,
  }
}

function originSection(record: EvaluationRecord, figures: readonly Figure[]): Html {
  const { dataset, router, bootstrap, counts, oneClassRotations } = record
  const subset = (name: 'headline' | 'all'): string => {
    const one = counts[name]
    return `${one.pairs.toLocaleString('en-US')} pairs, ${one.ready.toLocaleString('en-US')} READY, ${one.runs} runs (${one.mixedRuns} with both classes), ${one.groups} groups (${one.readyGroups} with READY)`
  }
  return html`<h2 id="origin">Where these numbers come from</h2>
<dl>
<dt>dataset</dt><dd><code>${dataset.directory}</code></dd>
<dt>router</dt><dd><code>${router.directory}</code>, serves ${router.served}</dd>
<dt>representation</dt><dd><code>${dataset.representationId}</code></dd>
<dt>runs, labels</dt><dd><code>${dataset.runsSha256}</code>, <code>${dataset.labelsSha256}</code></dd>
<dt>runs by domain</dt><dd>${Object.entries(dataset.domains)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}</dd>
<dt>headline pairs</dt><dd>${subset('headline')}</dd>
<dt>all pairs</dt><dd>${subset('all')}</dd>
${
  oneClassRotations.length === 0
    ? null
    : html`<dt>rotations without a value</dt><dd>${oneClassRotations.map(({ rotation, pairs, ready }) => `rotation ${rotation}: ${ready} READY of ${pairs} headline pairs`).join('; ')}</dd>`
}
<dt>bootstrap</dt><dd>${bootstrap.resamples} resamples of groups per rotation, seed ${bootstrap.seed}, percentile 95 %</dd>
</dl>
<h3>Scores</h3>
<dl>${record.predictors.map((predictor) => html`<dt>${predictor.name}</dt><dd>${predictor.description}</dd>`)}</dl>
${figureIndex(figures)}
<p class="note">All numbers of this page, and more, stand in <a href="metrics.json">metrics.json</a> beside it.</p>`
}

export function seriesLegend(series: readonly Series[]): Html {
  return html`<ul class="legend">${series.map((one) => html`<li>${lineSample(one)}${one.predictor.name}</li>`)}</ul>`
}

function routersOf(record: EvaluationRecord): readonly PredictorRecord[] {
  return record.predictors.filter((predictor) => predictor.kind === 'router')
}

function allScope(scopes: readonly ScopeMetrics[]): ScopeMetrics | undefined {
  return scopes.find((scope) => scope.kind === 'all')
}
