/**
 * A sweep's record for a person.
 */
import { MIN_INTERVAL_GROUPS } from '../../training/evaluation/evaluation-record.ts'
import { formatEstimate, formatInterval, formatValue } from '../../training/evaluation/format-estimate.ts'
import type { SweepConfigurationRecord, SweepRecord } from '../../training/sweep/sweep-record.ts'
import { createResultTable } from './result-table.ts'

/** More would not be read; sweep.json has them all. */
const SHOWN = 15

export function sweepText(record: SweepRecord, path: string): string {
  const { mostChosen, configurations, rotations, nested } = record
  const metric = 'within-run AUROC'
  return [
    ...(record.datasets.length > 1 ? [datasetLines(record)] : []),
    `Configurations by mean validation ${metric} over the rotations, with 95 % intervals over validation groups${few(configurations)}:`,
    configurationTable(record),
    ...(configurations.length > SHOWN ? [`(${configurations.length - SHOWN} more in ${path})`] : []),
    'What each rotation chose on its own validation part, and what its test part says of it:',
    rotationTable(record),
    `Search, then train: test ${metric} ${formatEstimate(nested.withinAuroc)}, PR-AUC ${formatEstimate(nested.averagePrecision)} (lift ${formatValue(nested.lift.value, 2)}).` +
      (record.optimism === null
        ? ''
        : ` The chosen ones look ${formatValue(Math.abs(record.optimism))} ${record.optimism >= 0 ? 'better' : 'worse'} on the validation part that chose them.`),
    `Most chosen: ${configurations[mostChosen.number]?.name ?? ''} (${mostChosen.rotations} of ${rotations.length} rotations). Train it:`,
    `  ${mostChosen.command}`,
    'This was a look at test results: write it down with the command that made it (this project: training/LOG.md).',
    `Written: ${path}`,
  ].join('\n')
}

function datasetLines({ datasets }: SweepRecord): string {
  return datasets
    .map(({ directory, model, layer, recipe }, i) => `#${i + 1} ${directory}: ${model}, layer ${layer}, ${recipe}`)
    .join('\n')
}

function configurationTable({ configurations, rotations }: SweepRecord): string {
  const table = createResultTable(['configuration', 'validation', '>PR-AUC', '>chosen by', 'diverged in'])
  const best = configurations.toSorted(byValidation).slice(0, SHOWN)
  for (const one of best)
    table.push([
      one.name,
      formatEstimate(one.validation),
      formatValue(one.validationPrAuc),
      one.chosenBy.length === 0 ? '' : `${one.chosenBy.length} of ${rotations.length}`,
      one.divergedIn.length === 0 ? '' : `rotation ${one.divergedIn.join(', ')}`,
    ])
  return table.toString()
}

/** Without it a reader looks for the intervals that the heading speaks of. */
function few(configurations: readonly SweepConfigurationRecord[]): string {
  return configurations.some(({ validation }) => validation.interval !== null)
    ? ''
    : ` (none: fewer than ${MIN_INTERVAL_GROUPS} groups with a READY pair)`
}

function byValidation(a: SweepConfigurationRecord, b: SweepConfigurationRecord): number {
  return (b.validation.value ?? -1) - (a.validation.value ?? -1) || a.number - b.number
}

function rotationTable({ rotations, nested, validationOfChosen }: SweepRecord): string {
  const table = createResultTable(['>rotation', 'chosen', '>validation', 'test', '>test PR-AUC', '>READY groups'])
  for (const { rotation, chosenName, validation, test } of rotations)
    table.push([
      rotation,
      chosenName,
      formatValue(validation.withinAuroc),
      `${formatValue(test.withinAuroc.value)} ${formatInterval(test.withinAuroc.interval)}`,
      formatValue(test.averagePrecision.value),
      test.withinAuroc.readyGroups,
    ])
  table.push([
    'mean',
    '',
    formatValue(validationOfChosen),
    formatEstimate(nested.withinAuroc),
    formatValue(nested.averagePrecision.value),
    nested.withinAuroc.readyGroups,
  ])
  return table.toString()
}
