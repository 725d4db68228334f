/**
 * Which interactions are most like one another, by their text alone: no model, no statistics of the run, so that what
 * came later changes nothing. Pure.
 */
import { actionText, observationText, reasoningText } from '../trajectory/interaction-text.ts'
import type { Interaction } from '../trajectory/trajectory.ts'
import type { ViewEncoder } from './view-encoder.ts'

/** Above every token id of a vocabulary: a pair of ids is one exact integer. */
const ID_RANGE = 2 ** 24

export interface SimilarityIndex {
  /**
   * The k interactions of the pool most similar to `target`, the target itself left out; ties to the earlier one. In
   * the order of the pool; fewer where fewer are there.
   */
  mostSimilar(target: Interaction, pool: readonly Interaction[], k: number): readonly Interaction[]
}

/**
 * Similarity is the cosine of two sets of adjacent token pairs, |A n B| / sqrt(|A| |B|): single tokens would mostly
 * tell that both are text. Long texts are seen through the encoder's windows.
 */
export function createSimilarityIndex(encoder: ViewEncoder): SimilarityIndex {
  const sets = new Map<Interaction, ReadonlySet<number>>()
  const known = new Map<Interaction, Map<Interaction, number>>()

  const pairsOf = (interaction: Interaction): ReadonlySet<number> => {
    const set = sets.get(interaction) ?? tokenPairs(encoder, interaction)
    sets.set(interaction, set)
    return set
  }
  const similarity = (a: Interaction, b: Interaction): number => {
    if (b.index < a.index) return similarity(b, a)
    const row = known.get(a) ?? new Map<Interaction, number>()
    known.set(a, row)
    const value = row.get(b) ?? cosine(pairsOf(a), pairsOf(b))
    row.set(b, value)
    return value
  }
  return {
    mostSimilar(target, pool, k) {
      const others = pool.filter((other) => other.index !== target.index)
      const scored = others.map((other) => ({ other, score: similarity(target, other) }))
      const chosen = scored.sort((a, b) => b.score - a.score || a.other.index - b.other.index).slice(0, k)
      return chosen.map(({ other }) => other).sort((a, b) => a.index - b.index)
    },
  }
}

function tokenPairs(encoder: ViewEncoder, interaction: Interaction): ReadonlySet<number> {
  const pairs = new Set<number>()
  for (const part of [reasoningText(interaction), actionText(interaction), observationText(interaction)]) {
    const { head, tail } = encoder.encode(part)
    for (const ids of [head, tail])
      for (let at = 1; at < ids.length; at++) pairs.add((ids[at - 1] ?? 0) * ID_RANGE + (ids[at] ?? 0))
  }
  return pairs
}

function cosine(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a]
  if (small.size === 0) return 0
  let shared = 0
  for (const pair of small) if (large.has(pair)) shared += 1
  return shared / Math.sqrt(small.size * large.size)
}
