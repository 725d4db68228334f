/**
 * From validation and test results of a sweep to its record. Pure.
 */
import type { RotationSplit } from '../../data/rotations.ts'
import { invariant } from '../../src/errors.ts'
import { groupedRatio, sumByGroup } from '../../src/metrics/group-statistics.ts'
import { estimateOver } from '../evaluation/estimate.ts'
import type { Estimate } from '../evaluation/evaluation-record.ts'
import { measureScores, scoresOf } from '../evaluation/measure-scores.ts'
import { type RotationTest, readyGroupsOf } from '../evaluation/rotation-test.ts'
import type { TestLine, ValidationLine } from './journal.schema.ts'
import { configurationNames, trainCommand } from './name-configuration.ts'
import {
  NESTED_METRICS,
  SWEEP_SCHEMA_VERSION,
  type SweepConfigurationRecord,
  type SweepRecord,
  type SweepRotationRecord,
} from './sweep-record.ts'
import type { SweepRequest } from './sweep-request.ts'
import type { SealedChoice } from './test-vault.ts'

/** Lists are by rotation; lines of a validation by configuration. */
export interface SweepResults {
  readonly request: SweepRequest
  readonly splits: readonly RotationSplit[]
  readonly validations: readonly { readonly test: RotationTest; readonly lines: readonly ValidationLine[] }[]
  readonly choices: readonly SealedChoice[]
  readonly tests: readonly { readonly test: RotationTest; readonly line: TestLine }[]
}

export function recordSweep(results: SweepResults): SweepRecord {
  const { request, tests } = results
  const configurations = recordConfigurations(results)
  const nested = measureScores(
    tests.map(({ test, line }) => scoresOf(test, line)),
    NESTED_METRICS,
  )
  const rotations = results.choices.map((choice, at) => recordRotation(results, configurations, nested, { choice, at }))
  const validationOfChosen = mean(rotations.map(({ validation }) => validation.withinAuroc))
  const test = nested.withinAuroc.value
  const best = mostChosen(configurations)
  const configuration = invariant(request.configurations[best.number], 'the configuration is known')
  const directory = invariant(request.datasets[configuration.dataset], 'the dataset is known').directory
  return {
    schemaVersion: SWEEP_SCHEMA_VERSION,
    datasets: request.datasets.map(({ trajectories: _, shared: __, ...summary }) => summary),
    search: {
      kind: request.search,
      configurations: configurations.length,
      jobs: (configurations.length + 1) * rotations.length,
    },
    configurations,
    rotations,
    nested,
    validationOfChosen,
    optimism: validationOfChosen === null || test === null ? null : validationOfChosen - test,
    mostChosen: {
      number: best.number,
      rotations: best.chosenBy.length,
      command: trainCommand(directory, configuration),
    },
    bootstrap: { resamples: request.resamples, seed: request.seed, level: 0.95 },
    engine: request.backend,
    source: request.environment.source,
  }
}

function recordConfigurations({ request, validations, choices }: SweepResults): readonly SweepConfigurationRecord[] {
  const names = configurationNames(request.configurations)
  return request.configurations.map((configuration, number) => {
    const lines = validations.map(({ lines }) => invariant(lines[number], 'every configuration was tried'))
    return {
      number,
      name: names[number] ?? '',
      ...configuration,
      validation: validationEstimate(validations, lines),
      validationPrAuc: mean(lines.map((line) => (line.kind === 'validation' ? line.metrics.prAuc : null))),
      chosenBy: choices.filter((choice) => choice.number === number).map(({ rotation }) => rotation),
      divergedIn: lines.flatMap((line, rotation) => (line.kind === 'failure' ? [rotation] : [])),
    }
  })
}

/** Mean over the rotations in which the configuration gave a router. */
function validationEstimate(
  validations: SweepResults['validations'],
  lines: readonly ValidationLine[],
): SweepConfigurationRecord['validation'] {
  const statistics = validations.flatMap(({ test }, at) => {
    const line = lines[at]
    if (line?.kind !== 'validation') return []
    const groupOf = new Map(test.runs.map(({ trajectory, group }) => [trajectory, group]))
    const group = line.runs.map(([trajectory]) => groupOf.get(trajectory) ?? 0)
    const sums = sumByGroup(
      line.runs.map(([, auroc]) => auroc),
      group,
      test.groups,
    )
    const counts = sumByGroup(
      line.runs.map(() => 1),
      group,
      test.groups,
    )
    return [{ test, readyGroups: readyGroupsOf(test, 'headline'), statistic: groupedRatio(sums, counts) }]
  })
  return estimateOver(statistics, true).estimate
}

function recordRotation(
  { splits, tests, validations }: SweepResults,
  configurations: readonly SweepConfigurationRecord[],
  nested: SweepRecord['nested'],
  { choice, at }: { readonly choice: SealedChoice; readonly at: number },
): SweepRotationRecord {
  const split = invariant(splits[at], 'the rotation has a split')
  const chosen = validations[at]?.lines[choice.number]
  const ownValue = (estimate: Estimate): Estimate['rotations'][number] =>
    invariant(estimate.rotations[at], 'the rotation was tested')
  return {
    rotation: choice.rotation,
    groups: { train: split.train.size, validation: split.validation.size, test: split.test.size },
    chosen: choice.number,
    chosenName: configurations[choice.number]?.name ?? '',
    bestEpoch: invariant(tests[at], 'the rotation was tested').line.bestEpoch,
    validation: {
      withinAuroc: chosen?.kind === 'validation' ? chosen.metrics.withinAuroc : null,
      prAuc: chosen?.kind === 'validation' ? chosen.metrics.prAuc : null,
    },
    test: {
      withinAuroc: ownValue(nested.withinAuroc),
      averagePrecision: ownValue(nested.averagePrecision),
      lift: ownValue(nested.lift),
    },
  }
}

function mostChosen(configurations: readonly SweepConfigurationRecord[]): SweepConfigurationRecord {
  const ranked = configurations.toSorted(
    (a, b) =>
      b.chosenBy.length - a.chosenBy.length ||
      (b.validation.value ?? 0) - (a.validation.value ?? 0) ||
      a.number - b.number,
  )
  return invariant(ranked[0], 'a sweep has a configuration')
}

/** Of the values that are known. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}
