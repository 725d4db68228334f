/**
 * Tables of thresholds, delays and perturbations of the served router. Pure: records in, Html out.
 */
import type { EvaluationRecord } from '../evaluation/evaluation-record.ts'
import { formatPercent, formatValue } from '../evaluation/format-estimate.ts'
import type { PolicyRates, RouterStudy } from '../evaluation/router-study-record.ts'
import { type Html, html } from './html.ts'
import { numberCell, tauWords } from './tables.ts'

/** Null where the record holds no study of the served router. */
export function policyTable(record: EvaluationRecord): Html | null {
  const policies = servedStudy(record)?.policies ?? []
  if (policies.length === 0) return null
  const rates = (of: PolicyRates): Html =>
    html`${numberCell(of.precision)}${numberCell(of.recall)}${numberCell(of.f1)}${numberCell(of.falsePositiveRate)}${numberCell(of.selectedShare)}`
  return html`<div class="scroll"><table>
<caption>Headline test pairs, each counting once; means over rotations</caption>
<thead><tr><th>policy</th><th class="number">tau per rotation</th><th class="number">precision</th><th class="number">recall</th><th class="number">F1</th><th class="number">false positive rate</th><th class="number">called READY</th><th>it aims at</th><th class="number">validation</th><th class="number">test</th><th class="number">optimism</th></tr></thead>
<tbody>${policies.map(
    ({ label, taus, test, objective }) =>
      html`<tr><th scope="row">${label}</th><td class="number">${tauWords(taus)}</td>${rates(test)}<td>${objective?.name ?? ''}</td>${numberCell(objective?.validation ?? null)}${numberCell(objective?.test ?? null)}${numberCell(objective?.optimism ?? null)}</tr>\n`,
  )}</tbody></table></div>`
}

const LEVELS = [0.5, 0.9] as const

/** Null where the record holds no study of the served router. */
export function delayTable(record: EvaluationRecord): Html | null {
  const delays = servedStudy(record)?.delays ?? []
  if (delays.length === 0) return null
  const share = (part: number, whole: number): string => (whole === 0 ? '–' : formatPercent(part / whole))
  const steps = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : formatValue(value, 1)
  return html`<div class="scroll"><table>
<caption>Interactions of held-out runs; delays in checkpoints</caption>
<thead><tr><th>point</th><th class="number">become READY</th><th class="number">caught</th><th class="number">ever called</th><th class="number">premature</th>${LEVELS.map((level) => html`<th class="number">delay, ${100 * level} %</th><th class="number">with the never called, ${100 * level} %</th><th class="number">too early by, ${100 * level} %</th>`)}</tr></thead>
<tbody>${delays.map(
    ({ operatingPoint, becomeReady, caught, called, premature, quantiles }) =>
      html`<tr><th scope="row">${operatingPoint}</th><td class="number">${becomeReady}</td><td class="number">${share(caught, becomeReady)}</td><td class="number">${called}</td><td class="number">${share(premature, called)}</td>${LEVELS.map(
        (level) => {
          const at = quantiles.find((quantile) => quantile.level === level)
          const never = becomeReady > 0 && at?.delayOrNever === null ? 'never' : steps(at?.delayOrNever)
          return html`<td class="number">${steps(at?.delay)}</td><td class="number">${never}</td><td class="number">${steps(at?.lead)}</td>`
        },
      )}</tr>\n`,
  )}</tbody></table></div>`
}

/** Null where no perturbation was measured. */
export function perturbationTable(record: EvaluationRecord): Html | null {
  const measured = servedStudy(record)?.margins?.measured ?? []
  if (measured.length === 0) return null
  return html`<div class="scroll"><table>
<caption>Measured perturbations of the served router: how decisions move from A to B</caption>
<thead><tr><th>perturbation</th><th class="number">pairs</th><th class="number">decisions kept</th><th class="number">READY kept</th><th class="number">KEEP kept</th><th class="number">median shift, logits</th><th class="number">correlation</th><th>what A and B are</th></tr></thead>
<tbody>${measured.map(
    (one) =>
      html`<tr><th scope="row">${one.name}</th><td class="number">${one.pairs.toLocaleString('en-US')}</td>${numberCell(one.kept)}${numberCell(one.readyKept)}${numberCell(one.keepKept)}${numberCell(one.shiftQuantiles.find(({ level }) => level === 0.5)?.shift ?? null)}${numberCell(one.correlation)}<td class="words">${one.description}</td></tr>\n`,
  )}</tbody></table></div>`
}

function servedStudy(record: EvaluationRecord): RouterStudy | null {
  return record.predictors.find((one) => one.kind === 'router' && one.name === record.router.served)?.study ?? null
}
