/**
 * An evaluation record as one self-contained page. Pure: record -> string; no script, nothing loaded from anywhere.
 * Every name that comes from logs is escaped by html.ts, and a content security policy stands behind that.
 */
import type { EvaluationRecord, ScopeMetrics } from '../evaluation/evaluation-record.ts'
import { formatPercent } from '../evaluation/format-estimate.ts'
import { type Html, html } from './html.ts'
import {
  type DomainRow,
  domainPlot,
  lineSample,
  precisionRecallPlot,
  reliabilityPlot,
  rocPlot,
  scoreByAgePlot,
} from './plots.ts'
import { type Series, seriesOf } from './series.ts'
import { STYLE } from './style.ts'
import {
  calibrationTable,
  domainTable,
  headlineTable,
  lengthTable,
  operatingPointTable,
  rotationTable,
  verdictTable,
} from './tables.ts'

/** No script, no frame, no request: styles inline, images only as data. */
export const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

export function renderReport(record: EvaluationRecord): string {
  const series = seriesOf(record)
  const body = html`
<h1>Which past interactions are no longer needed in full?</h1>
<p class="sub">keepready evaluation of a router on ${record.dataset.model}, layer ${record.dataset.layer}, recipe ${record.dataset.recipe}</p>
<div class="summary" id="summary">${record.summary.map((sentence) => html`<p>${sentence}</p>`)}</div>
<ul class="note" id="caveats">${record.caveats.map((caveat) => html`<li>${caveat}</li>`)}</ul>
${verdictsSection(record)}
${figuresSection(record, series)}
${domainsSection(record)}
${pointsSection(record)}
${detailsSection(record)}
${originSection(record)}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>keepready evaluation</title>
<style>${STYLE}</style>
</head>
<body>${body.text}
</body>
</html>
`
}

function verdictsSection(record: EvaluationRecord): Html {
  return html`<h2 id="verdicts">Does the router beat the baselines?</h2>
<p>Each cell is router minus baseline. Only an interval above 0 counts as beating.</p>
${verdictTable(record)}
<h2 id="headline">Headline numbers</h2>
<p>Inside each held-out run: how often does a READY pair score above a KEEP pair (chance .5)? The other columns rank pairs of all runs together, where a score that only recognises the domain already looks good. Lift is PR-AUC over prevalence: about 1 for chance, see the row random. Each run weighs the same unless a column says pair-weighted.</p>
${headlineTable(record, 'headline')}
<details><summary>The same on all pairs, those near the end of a run included</summary>${headlineTable(record, 'all')}</details>`
}

function figuresSection(record: EvaluationRecord, series: readonly Series[]): Html {
  const routers = record.predictors.filter((predictor) => predictor.kind === 'router')
  const prevalence =
    routers[0] === undefined ? null : (allScope(routers[0].subsets.headline.scopes)?.metrics.prevalence.value ?? null)
  const probabilistic = series.filter((one) => one.predictor.subsets.headline.calibration !== null)
  return html`<h2 id="figures">Figures</h2>
<ul class="legend">${series.map((one) => html`<li>${lineSample(one)}${one.predictor.name}</li>`)}</ul>
<div class="figures">
${figure('roc', 'ROC', rocPlot(series), 'Mean over rotations; the diagonal is chance.')}
${figure('precision-recall', 'Precision and recall', precisionRecallPlot(series, prevalence), `Mean over rotations; the horizontal line is chance, the prevalence of ${formatPercent(prevalence)}.`)}
${figure('reliability', 'Reliability', reliabilityPlot(probabilistic), 'On the diagonal a score is a probability; a larger dot holds more pairs. Trained with a weight on READY, raw scores of a router stand below it.')}
${routers.map((router) => figure(`score-by-age-${router.name}`, `Score by age: ${router.name}`, scoreByAgePlot(router.sample), 'A sample of held-out pairs, as many READY (orange circles, solid median) as KEEP (blue crosses, dashed median). Where the lines lie apart at the same age, the score knows more than age.'))}
</div>`
}

function domainsSection(record: EvaluationRecord): Html {
  const scopes = (record.predictors[0]?.subsets.headline.scopes ?? []).filter((scope) => scope.kind === 'domain')
  const shown = seriesOf(record).filter(
    ({ predictor }) =>
      predictor.kind === 'router' || predictor.name === 'age' || predictor.name === 'age-position-length-lr',
  )
  const rows = scopes.flatMap((scope) =>
    shown.flatMap(({ predictor, colour }): readonly DomainRow[] => {
      const estimate = predictor.subsets.headline.scopes.find((one) => one.name === scope.name)?.metrics.withinAuroc
      return estimate === undefined ? [] : [{ domain: scope.name, name: predictor.name, colour, estimate }]
    }),
  )
  return html`<h2 id="domains">By domain</h2>
${figure('domains-plot', 'Within-trajectory AUROC by domain', domainPlot(rows), 'Dots are means over rotations, bars 95 % intervals; a dot without a bar has fewer than 10 test groups with a READY pair. The dashed line is chance.', 'wide')}
${scopes.map((scope) => html`<details><summary>${scope.name}</summary>${domainTable(record, scope)}</details>`)}`
}

function pointsSection(record: EvaluationRecord): Html {
  return html`<h2 id="operating-points">Operating points</h2>
<p>Thresholds are chosen on each rotation's validation part. Two errors are not equal: a false positive loses information for good, a missed READY costs tokens. Premature: of the interactions ever called READY, those called so before their boundary. Delay: checkpoints from the boundary to the first call, of the others. Caught: of the interactions that become READY, those called so.</p>
${operatingPointTable(record)}
<h2 id="calibration">Calibration</h2>
${calibrationTable(record)}`
}

function detailsSection(record: EvaluationRecord): Html {
  return html`<h2 id="details">By rotation and by length</h2>
${rotationTable(record)}
${lengthTable(record)}`
}

function originSection(record: EvaluationRecord): Html {
  const { dataset, router, bootstrap, counts } = record
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
<dt>bootstrap</dt><dd>${bootstrap.resamples} resamples of groups per rotation, seed ${bootstrap.seed}, percentile 95 %</dd>
</dl>
<h3>Scores</h3>
<dl>${record.predictors.map((predictor) => html`<dt>${predictor.name}</dt><dd>${predictor.description}</dd>`)}</dl>
<p class="note">All numbers of this page, and more, stand in metrics.json beside it.</p>`
}

function figure(id: string, title: string, plot: Html, caption: string, kind = ''): Html {
  return html`<figure id="${id}" class="${kind}"><h3>${title}</h3>${plot}<figcaption>${caption}</figcaption></figure>`
}

function allScope(scopes: readonly ScopeMetrics[]): ScopeMetrics | undefined {
  return scopes.find((scope) => scope.kind === 'all')
}
