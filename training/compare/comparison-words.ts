/**
 * A comparison in plain words: what a difference and its interval allow to be said, and what they do not. Pure.
 */
import { MIN_HEADLINE_FUTURE, MIN_INTERVAL_GROUPS } from '../evaluation/evaluation-record.ts'
import { formatInterval, formatValue } from '../evaluation/format-estimate.ts'
import type {
  ComparedMetric,
  ComparedRunRecord,
  KindComparison,
  RunComparison,
  RunDifference,
} from './comparison-record.ts'

export const METRIC_WORDS: Readonly<Record<ComparedMetric, string>> = {
  withinAuroc: 'within-trajectory AUROC',
  withinAveragePrecision: 'within-trajectory PR-AUC',
  auroc: 'AUROC',
  averagePrecision: 'PR-AUC',
}

/** `+.004 [-.010 .018]`; a dash for no value. */
export function signedDifference({ difference, interval }: Pick<RunDifference, 'difference' | 'interval'>): string {
  if (difference === null) return '–'
  const sign = difference >= 0 ? '+' : ''
  return `${sign}${formatValue(difference)}${interval === null ? '' : ` ${formatInterval(interval)}`}`
}

/** From the side of `run`, without a full stop. */
export function differenceWords(found: Omit<RunDifference, 'words'>): string {
  const { run, against, difference, interval, readyGroups, verdict } = found
  const numbers = signedDifference(found)
  if (difference === null) return `no value: no run of ${found.scope} holds both classes`
  if (interval === null)
    return `too few groups to say: ${numbers} (${readyGroups} test groups hold a READY pair, ${MIN_INTERVAL_GROUPS} are needed)`
  if (verdict === 'beats') return `${run} is better than ${against}: ${numbers}`
  if (verdict === 'is-worse') return `${run} is worse than ${against}: ${numbers}`
  const most = Math.max(Math.abs(interval.low), Math.abs(interval.high))
  return `cannot tell ${run} and ${against} apart: ${numbers}; they may differ by up to ${formatValue(most)}`
}

/** One sentence per kind of input and run, the headline metric over all domains. */
export function comparisonSummary(
  kinds: readonly KindComparison[],
  matched: RunComparison['matched'],
): readonly string[] {
  const scale =
    `On ${matched.headlinePairs.toLocaleString('en-US')} pairs of ${matched.runs} held-out runs in ${matched.groups} groups ` +
    'that all runs hold out'
  return kinds.flatMap((kind, at) =>
    headlineDifferences(kind).map((found, i) => {
      const opening = at === 0 && i === 0 ? `${scale}, within-trajectory AUROC on ${kind.inputs}` : `On ${kind.inputs}`
      return `${opening}: ${found.words}.`
    }),
  )
}

export function headlineDifferences({ differences }: KindComparison): readonly RunDifference[] {
  return differences.filter((one) => one.scope === 'all' && one.metric === 'withinAuroc')
}

export function comparisonCaveats(
  kinds: readonly KindComparison[],
  runs: readonly ComparedRunRecord[],
): readonly string[] {
  const unmatched = runs.filter((run) => run.unmatchedPairs > 0)
  const made = kinds.reduce((sum, kind) => sum + headlineDifferences(kind).length, 0)
  return [
    'Differences are paired: the same pairs, groups, rotations and bootstrap draws for every run. A 95 % interval of the difference that lies above or below 0 tells runs apart; one around 0 does not show that they are equal.',
    `${made} headline ${made === 1 ? 'comparison is' : 'comparisons are'} made here without correction. Pairs have at least ${MIN_HEADLINE_FUTURE} interactions after them.`,
    ...(unmatched.length === 0
      ? ['Every held-out pair is in all runs.']
      : unmatched.map(
          (run) =>
            `${run.name}: ${run.unmatchedPairs.toLocaleString('en-US')} of ${run.heldOutPairs.toLocaleString('en-US')} held-out pairs are not in all runs and are left out.`,
        )),
    'The numbers estimate the training procedure, not the final weights, and the intervals say nothing of other seeds: repeat with seeds before you believe a small difference.',
  ]
}
