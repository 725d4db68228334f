/**
 * The words of an evaluation: one plain summary, and what a reader must know before believing a number. Pure.
 */
import type { InputKind } from '../../models/router/spec.ts'
import {
  type ComparisonRecord,
  type Estimate,
  type EvaluationRecord,
  MIN_HEADLINE_FUTURE,
  MIN_INTERVAL_GROUPS,
  type PredictorRecord,
  type SubsetCounts,
  type SubsetName,
} from './evaluation-record.ts'
import { formatEstimate, formatValue } from './format-estimate.ts'

export interface SummaryInput {
  readonly served: InputKind
  readonly predictors: readonly PredictorRecord[]
  readonly comparisons: readonly ComparisonRecord[]
  readonly counts: Readonly<Record<SubsetName, SubsetCounts>>
  readonly rotations: number
  readonly oneClassRotations?: EvaluationRecord['oneClassRotations']
}

/** One sentence per trained input, the served one first: its number, and whether it beats each baseline. */
export function summarise(input: SummaryInput): readonly string[] {
  const { headline } = input.counts
  const routers = input.predictors
    .filter((predictor) => predictor.kind === 'router')
    .sort((a, b) => Number(b.name === input.served) - Number(a.name === input.served))
  const scale =
    `Over ${input.rotations} grouped rotations, on ${headline.pairs.toLocaleString('en-US')} pairs of ${headline.runs} ` +
    `held-out runs in ${headline.groups} groups (${headline.mixedRuns} runs hold both classes and can be ranked)`
  return routers.map((router, at) => {
    const estimate = headlineAuroc(router)
    const served = router.name === input.served
    const opening = at === 0 ? `${scale}, the router` : 'The router'
    return (
      `${opening} on ${router.name}${served ? ' (the one that is served)' : ''} reaches a within-trajectory AUROC of ` +
      `${estimate === null ? 'no value' : formatEstimate(estimate)} and ${verdictWords(router, input)}.`
    )
  })
}

function verdictWords(router: PredictorRecord, { comparisons, predictors }: SummaryInput): string {
  const baselines = predictors.filter((predictor) => predictor.kind === 'baseline')
  const of = (verdict: ComparisonRecord['verdict']): readonly string[] =>
    baselines
      .filter((baseline) =>
        comparisons.some(
          (one) =>
            one.metric === 'withinAuroc' &&
            one.scope === 'all' &&
            one.a === router.name &&
            one.b === baseline.name &&
            one.verdict === verdict,
        ),
      )
      .map((baseline) => {
        const estimate = headlineAuroc(baseline)
        return estimate?.value === null || estimate === null
          ? baseline.name
          : `${baseline.name} (${formatValue(estimate.value)})`
      })
  const beaten = of('beats')
  if (beaten.length === baselines.length && baselines.length > 0)
    return `beats every baseline (${beaten.length} of ${baselines.length}), the best of them ${bestOf(baselines)}`
  const parts: string[] = []
  const worse = of('is-worse')
  const open = of('no-difference-shown')
  const unknown = of('cannot-tell')
  if (unknown.length === baselines.length)
    return `cannot be told apart from any baseline: fewer than ${MIN_INTERVAL_GROUPS} test groups hold a READY pair`
  if (worse.length > 0) parts.push(`is worse than ${list(worse)}`)
  if (open.length > 0) parts.push(`does not beat ${list(open)}`)
  if (unknown.length > 0) parts.push(`cannot be compared with ${list(unknown)}`)
  const rest = beaten.length > 0 ? `but beats ${list(beaten)}` : 'and beats no baseline'
  return `${list(parts)}, ${rest}`
}

export function caveatsOf(input: SummaryInput): readonly string[] {
  const { headline, all } = input.counts
  const smallest = smallestRotation(input.predictors)
  return [
    'These numbers estimate the training procedure (train on four parts, test on a fifth), not the final weights that are served: those trained on other groups.',
    `Headline pairs have at least ${MIN_HEADLINE_FUTURE} interactions after them: a label "no later use" near the end of a run saw too little future. All pairs stand beside.`,
    'Numbers are means over rotations; scores of different rotations come from different models and are never ranked together. Each run counts once unless a column says pair-weighted.',
    `"Beats" means that the 95 % interval of the paired difference, from a bootstrap over groups on the same draw for both, lies above 0. ${input.comparisons.filter((one) => one.scope === 'all' && one.metric === 'withinAuroc').length} such comparisons are made here without correction.`,
    ...(input.oneClassRotations ?? []).map(
      ({ rotation, pairs, ready }) =>
        `Rotation ${rotation} has no value and is left out of means over rotations: ${ready === 0 ? 'none' : 'each'} of its ${pairs} headline test pairs is READY.`,
    ),
    ...(headline.readyGroups < MIN_INTERVAL_GROUPS
      ? [
          `No interval is given: only ${headline.readyGroups} test groups hold a READY pair, ${MIN_INTERVAL_GROUPS} are needed.`,
        ]
      : smallest !== null && smallest < MIN_INTERVAL_GROUPS
        ? [
            `Some rotations test as few as ${smallest} groups with a READY pair: single rotations with fewer than ${MIN_INTERVAL_GROUPS} get no interval of their own. The interval of the mean rests on all ${headline.readyGroups} such groups (n - 1 of n groups are drawn per rotation, so that few groups do not narrow it).`,
          ]
        : []),
    ...(headline.mixedRuns < headline.runs
      ? [
          `${headline.runs - headline.mixedRuns} of ${headline.runs} test runs hold only one class among their headline pairs and cannot be ranked; ${all.mixedRuns} of ${all.runs} can with all pairs.`,
        ]
      : []),
    ...(input.predictors.some((predictor) => predictor.name === 'evidence')
      ? [
          'With lineage labels half of the label (was it taken up already?) can be computed from the prefix, so inputs with evidence are flattered; labels of another source are needed to judge them.',
        ]
      : []),
  ]
}

function smallestRotation(predictors: readonly PredictorRecord[]): number | null {
  const rotations = predictors[0]?.subsets.headline.scopes[0]?.metrics.withinAuroc.rotations ?? []
  return rotations.length === 0 ? null : Math.min(...rotations.map((rotation) => rotation.readyGroups))
}

export function headlineAuroc(predictor: PredictorRecord): Estimate | null {
  return predictor.subsets.headline.scopes.find((scope) => scope.kind === 'all')?.metrics.withinAuroc ?? null
}

function bestOf(baselines: readonly PredictorRecord[]): string {
  const ranked = baselines
    .map((baseline) => ({ name: baseline.name, value: headlineAuroc(baseline)?.value ?? 0 }))
    .sort((a, b) => b.value - a.value)
  const best = ranked[0]
  return best === undefined ? 'none' : `${best.name} (${formatValue(best.value)})`
}

function list(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}
