/**
 * Baselines that look at one number: chance, the domain, the age, the position, the length of the source.
 * Whether more means READY is learnt from training groups.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { withinTrajectoryAuroc } from '../../src/metrics/within-trajectory.ts'
import { createRng, deriveSeed } from '../../src/rng.ts'
import { type Baseline, type BaselineName, trajectoryWeights } from './baseline.ts'

/** c - i */
export function ageOf({ pairs }: Dataset, pair: number): number {
  return (pairs.checkpoint[pair] ?? 0) - (pairs.interaction[pair] ?? 0)
}

/** i / c, in [0, 1): where in the prefix the interaction stands. */
export function positionOf({ pairs }: Dataset, pair: number): number {
  return (pairs.interaction[pair] ?? 0) / (pairs.checkpoint[pair] ?? 1)
}

export function sourceTokensOf({ pairs }: Dataset, pair: number): number {
  return pairs.sourceTokens[pair] ?? 0
}

export const RANDOM: Baseline = {
  name: 'random',
  description: 'chance: one seeded uniform number per pair',
  probabilistic: false,
  fit({ dataset, seed }) {
    const rng = createRng(deriveSeed(seed, 'random-baseline'))
    const draws = Float64Array.from({ length: dataset.pairs.count }, () => rng.nextFloat())
    return (rows) => Float64Array.from(rows, (pair) => draws[pair] ?? 0)
  },
}

export const DOMAIN: Baseline = {
  name: 'domain',
  description: 'the share of READY in the training runs of the same domain, blind to the interaction',
  probabilistic: true,
  fit({ dataset, train }) {
    const weights = trajectoryWeights(dataset, train)
    const sums = new Map<string, { ready: number; weight: number }>()
    const overall = { ready: 0, weight: 0 }
    train.forEach((pair, at) => {
      const domain = domainOf(dataset, pair)
      const own = sums.get(domain) ?? { ready: 0, weight: 0 }
      sums.set(domain, own)
      for (const sum of [own, overall]) {
        sum.weight += weights[at] ?? 0
        sum.ready += (weights[at] ?? 0) * (dataset.pairs.label[pair] ?? 0)
      }
    })
    return (rows) =>
      Float64Array.from(rows, (pair) => {
        const sum = sums.get(domainOf(dataset, pair)) ?? overall
        return sum.weight > 0 ? sum.ready / sum.weight : 0
      })
  },
}

export const AGE = signed('age', 'steps since the interaction', ageOf)
export const POSITION = signed('position', 'relative place of the interaction in the prefix', positionOf)
export const SOURCE_LENGTH = signed('source-length', "the interaction's length in tokens", sourceTokensOf)

function signed(name: BaselineName, what: string, read: (dataset: Dataset, pair: number) => number): Baseline {
  return {
    name,
    description: `${what}; its sign is learnt from training groups`,
    probabilistic: false,
    fit({ dataset, train }) {
      const within = withinTrajectoryAuroc(
        Float64Array.from(train, (pair) => read(dataset, pair)),
        Float64Array.from(train, (pair) => dataset.pairs.label[pair] ?? 0),
        Float64Array.from(train, (pair) => dataset.pairs.trajectory[pair] ?? 0),
      )
      const sign = within !== null && within < 0.5 ? -1 : 1
      return (rows) => Float64Array.from(rows, (pair) => sign * read(dataset, pair))
    },
  }
}

function domainOf({ pairs, trajectories }: Dataset, pair: number): string {
  return trajectories[pairs.trajectory[pair] ?? 0]?.domain ?? ''
}
