/**
 * The card of a router artefact for a person.
 */
import type { MeanAndSpread } from '../../models/router/manifest.ts'
import type { RouterCard } from '../../models/router/router-card.ts'
import { OPERATING_POINT_NAMES } from '../router/operating-points.ts'
import { createResultTable } from './result-table.ts'
import { sparkline } from './sparkline.ts'
import { oneLine } from './terminal-text.ts'

export function routerCardText(card: RouterCard, directory: string): string {
  return [
    `router ${directory}: schema version ${card.schemaVersion}, reads ${specWords(card)}, chosen as ${oneLine(card.servedBecause)}`,
    representationWords(card),
    ...(card.parent === null ? [] : [parentWords(card.parent)]),
    '',
    metricsTable(card),
    ...startLines(card),
    '',
    operatingPointTable(card),
    card.calibrated ? 'scores are calibrated by an isotonic map' : 'scores are not calibrated',
    '',
    ...learningCurve(card),
    '',
    quantileTable(card),
    '',
    ...facts(card),
  ].join('\n')
}

function specWords({ spec, parameters }: RouterCard): string {
  const shape = spec.width === 0 ? 'logistic regression' : `${spec.width} hidden units, dropout ${spec.dropout}`
  return `${spec.inputs} (${shape}; ${parameters.toLocaleString('en-US')} parameters)`
}

function representationWords(card: RouterCard): string {
  const { representation, representationId, spec } = card
  const { model, layer, recipe, storageDtype, quantize, precision } = representation
  const form = [
    storageDtype,
    ...(quantize === undefined ? [] : [quantize]),
    ...(precision === undefined ? [] : [`computed in ${precision}`]),
  ]
  const words =
    `${oneLine(model.name)} (${oneLine(model.architecture)}, files ${model.filesSha256.slice(0, 12)}), layer ${layer}, ` +
    `recipe ${recipe.name} with views of ${recipe.budgets.view} tokens, ${form.join(', ')}; id ${representationId}`
  return spec.inputs === 'evidence'
    ? `representation: none is read (the dataset's was ${words})`
    : `representation: ${words}; m is a mean of ${card.topK} neighbours`
}

function parentWords(parent: NonNullable<RouterCard['parent']>): string {
  return (
    `fine-tuned from router ${parent.parametersSha256.slice(0, 12)} (source ${parent.source.slice(0, 12)}): ` +
    `${parent.seenGroups} groups it had seen only train, rotations deal the ${parent.freshGroups} others`
  )
}

/** A row per rotation of the served inputs, means with their spread for all. */
function metricsTable(card: RouterCard): string {
  const table = createResultTable([
    'rotation',
    'inputs',
    '>validation AUROC',
    '>PR-AUC',
    '>test AUROC',
    '>PR-AUC',
    '>test runs',
    '>pairs',
    '>READY',
  ])
  for (const { rotation, inputs, validation, test } of card.rotations)
    if (inputs === card.spec.inputs)
      table.push([
        rotation,
        inputs,
        ...[validation.withinAuroc, validation.prAuc, test.withinAuroc, test.prAuc].map(figure),
        test.trajectories,
        test.pairs,
        share(test.positives, test.pairs),
      ])
  for (const inputs of card.trainedInputs) {
    const of = (split: 'validation' | 'test') =>
      card.means.find((means) => means.inputs === inputs && means.split === split) ?? null
    table.push([
      'mean ± sd',
      inputs,
      ...[of('validation')?.withinAuroc, of('validation')?.prAuc, of('test')?.withinAuroc, of('test')?.prAuc].map(
        (value) => meanText(value ?? null),
      ),
      '',
      '',
      '',
    ])
  }
  const note =
    'AUROC is within a trajectory; figures estimate the procedure, intervals and baselines: keepready evaluate'
  return `${table.toString()}\n${note}`
}

/** What fine-tuning has brought: the old router on the same pairs. */
function startLines(card: RouterCard): readonly string[] {
  const started = card.rotations.filter(({ start, inputs }) => start !== null && inputs === card.spec.inputs)
  if (started.length === 0) return []
  const mean = (values: readonly (number | null | undefined)[]): string => {
    const known = values.filter((value) => typeof value === 'number')
    return known.length === 0 ? '-' : figure(known.reduce((sum, value) => sum + value, 0) / known.length)
  }
  return [
    `the router it started from, on the same test pairs: AUROC ${mean(started.map(({ start }) => start?.test.withinAuroc))}, PR-AUC ${mean(started.map(({ start }) => start?.test.prAuc))}`,
  ]
}

function operatingPointTable(card: RouterCard): string {
  const table = createResultTable([
    'operating point',
    '>tau',
    '>precision',
    '>recall',
    '>selected',
    '>of pairs',
    '>groups',
  ])
  const without: string[] = []
  for (const name of OPERATING_POINT_NAMES) {
    const { tau, validation, reason } = card.operatingPoints[name]
    table.push([
      name === card.defaultOperatingPoint ? `${name} (default)` : name,
      tau === null ? 'none' : tau.toFixed(3),
      figure(validation.precision),
      figure(validation.recall),
      validation.selectedPairs,
      validation.pairs,
      validation.selectedGroups,
    ])
    if (tau === null) without.push(`${name}: READY is never predicted, ${oneLine(reason ?? 'no threshold')}`)
  }
  return [table.toString(), ...without].join('\n')
}

function learningCurve({ epochs, bestEpoch, config }: RouterCard): readonly string[] {
  const rows = [
    ['training loss', epochs.map((epoch) => epoch.trainLossNats)],
    ['validation loss', epochs.map((epoch) => epoch.validationLossNats)],
    ['validation PR-AUC', epochs.map((epoch) => epoch.validationPrAuc)],
  ] as const
  return [
    `final model: ${epochs.length} of ${config.epochs} epochs, best ${bestEpoch}`,
    ...rows.map(([name, values]) => {
      const known = values.filter((value) => value !== null)
      const range =
        known.length === 0 ? '-' : `${figure(values[0] ?? null)} -> ${figure(values[bestEpoch - 1] ?? null)}`
      return `  ${name.padEnd(18)} ${sparkline(values)}  ${range}`
    }),
  ]
}

function quantileTable({ quantiles }: RouterCard): string {
  const table = createResultTable(['training quantiles', ...quantiles.levels.map((level) => `>${percent(level)}`)])
  const row = (name: string, values: readonly number[], format: (value: number) => string): void =>
    table.push([name, ...quantiles.levels.map((_, i) => (values[i] === undefined ? '-' : format(values[i])))])
  row('score p', quantiles.score, (value) => value.toFixed(3))
  row('interactions of a run', quantiles.interactions, (value) => `${Math.round(value)}`)
  row('tokens of a source', quantiles.sourceTokens, (value) => `${Math.round(value)}`)
  return table.toString()
}

function facts(card: RouterCard): readonly string[] {
  const { config, prevalence, groups, data, engine } = card
  const domains = Object.entries(prevalence.byDomain).map(([name, value]) => `${oneLine(name)} ${percent(value)}`)
  const named = Object.entries(config).map(([name, value]) => `${name} ${value}`)
  const files = Object.entries(data.files).map(([name, hash]) => `${oneLine(name)} ${hash.slice(0, 12)}`)
  return [
    `READY        ${percent(prevalence.training)} of training pairs, ${percent(prevalence.validation)} of validation pairs; ${domains.join(', ')}`,
    `groups       ${groups.training} trained on, ${groups.validation} validated on (hashed ids)`,
    `config       ${named.join(', ')}`,
    ...(card.evidenceNames.length === 0 ? [] : [`evidence     ${card.evidenceNames.map(oneLine).join(', ')}`]),
    `data         runs ${data.runsSha256.slice(0, 12)}, labels ${data.labelsSha256.slice(0, 12)}${files.length === 0 ? '' : `; ${files.join(', ')}`}`,
    `environment  ${oneLine(engine.backend)} ${oneLine(engine.version)}, Node ${oneLine(engine.node)}, source ${oneLine(card.source).slice(0, 12)}`,
    `parameters   ${card.parametersSha256.slice(0, 12)}${card.probeSha256 === null ? '; no probe rows (schema version 1)' : `; probe rows ${card.probeSha256.slice(0, 12)}`}`,
  ]
}

function meanText(value: MeanAndSpread | null): string {
  if (value === null) return '-'
  return value.standardDeviation === null
    ? figure(value.mean)
    : `${figure(value.mean)} ± ${value.standardDeviation.toFixed(3)}`
}

function figure(value: number | null): string {
  return value === null ? '-' : value.toFixed(3)
}

function share(part: number, of: number): string {
  return of === 0 ? '-' : percent(part / of)
}

function percent(value: number): string {
  return `${Number((100 * value).toFixed(1))} %`
}
