/**
 * What a study says, a sentence per predictor. Pure.
 */
import type { Verdict } from '../evaluation/evaluation-record.ts'
import { formatEstimate, formatInterval, formatValue } from '../evaluation/format-estimate.ts'
import type { StudyDifference, StudyPoint, StudyRecord } from './study-record.ts'

type Parts = Pick<StudyRecord, 'kind' | 'points' | 'predictors' | 'differences' | 'seedSpread'>

export function summariseStudy(study: Parts): readonly string[] {
  const routers = study.predictors.filter(({ kind }) => kind === 'router').map(({ name }) => name)
  switch (study.kind) {
    case 'fraction':
      return routers.flatMap((name) => fractionSentence(study, name))
    case 'domain':
      return routers.flatMap((name) => domainSentences(study, name))
    case 'seeds':
      return routers.flatMap((name) => seedSentence(study, name))
    default:
      return study.kind satisfies never
  }
}

const MORE_DATA: Readonly<Record<Verdict, string>> = {
  beats: 'more runs still help',
  'is-worse': 'more runs made it worse',
  'no-difference-shown': 'no gain from the second half of the runs is shown',
  'cannot-tell': 'too few groups to tell whether more runs help',
}

function fractionSentence({ points, differences }: Parts, name: string): readonly string[] {
  const known = points.filter((point) => valueAt(point, name) !== null)
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined || first === last) return []
  const gain = differences.find((one) => one.metric === 'withinAuroc' && one.a.predictor === name)
  return [
    `${name}: within-trajectory AUROC ${valueAt(first, name)} at ${first.label} (${groups(first)} training groups), ` +
      `${valueAt(last, name)} at ${last.label} (${groups(last)})` +
      (gain === undefined
        ? '.'
        : `; from ${gain.b.point} to ${gain.a.point} ${signed(gain)}: ${MORE_DATA[gain.verdict]}.`),
  ]
}

const UNSEEN: Readonly<Record<Verdict, string>> = {
  beats: 'better without it',
  'is-worse': 'worse without it',
  'no-difference-shown': 'no difference shown',
  'cannot-tell': 'cannot tell: too few groups',
}

function domainSentences({ points, differences }: Parts, name: string): readonly string[] {
  return points.flatMap((point) => {
    const own = valueAt(point, name)
    const cost = differences.find(
      (one) => one.metric === 'withinAuroc' && one.a.predictor === name && one.a.point === point.label,
    )
    if (own === null) return []
    return [
      `${name} on ${point.label}, which training has not seen: within-trajectory AUROC ${own}` +
        (cost === undefined ? '.' : `; against training with it ${signed(cost)}: ${UNSEEN[cost.verdict]}.`),
    ]
  })
}

function seedSentence({ seedSpread }: Parts, name: string): readonly string[] {
  const spread = seedSpread.find((one) => one.predictor === name && one.metric === 'withinAuroc')
  if (spread === undefined) return []
  const { seeds, mean, standardDeviation, low, high, groupHalfWidth } = spread
  const beside =
    groupHalfWidth === null
      ? ''
      : `; the interval over groups is ±${formatValue(groupHalfWidth)} wide, ` +
        (standardDeviation < groupHalfWidth / 2
          ? 'so the groups that happened to be tested matter more than the seed'
          : 'so the seed matters about as much as the groups: report the mean of several')
  return [
    `${name}: within-trajectory AUROC ${formatValue(mean)} over ${seeds} seeds, from ${formatValue(low)} to ${formatValue(high)}, ` +
      `standard deviation ${formatValue(standardDeviation)}${beside}.`,
  ]
}

function valueAt(point: StudyPoint, name: string): string | null {
  const value = point.values.find((one) => one.predictor === name)
  return value === undefined ? null : formatEstimate(value.metrics.withinAuroc)
}

function groups({ training }: StudyPoint): string {
  return String(Math.round(training.groups))
}

function signed({ difference, interval }: StudyDifference): string {
  const value = difference === null ? formatValue(null) : `${difference >= 0 ? '+' : ''}${formatValue(difference)}`
  return interval === null ? value : `${value} ${formatInterval(interval)}`
}
