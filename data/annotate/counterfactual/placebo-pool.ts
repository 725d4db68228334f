/**
 * Where placebos come from: interactions of other groups, of like length. Seeded, so that the same runs give the same
 * placebos whatever was measured before. Pure.
 */
import { AppError } from '../../../src/errors.ts'
import { createRng, deriveSeed } from '../../../src/rng.ts'
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'

/** An interaction as a target of views. */
export interface PoolEntry {
  readonly run: Trajectory
  readonly interaction: Interaction
  /** At most the target budget T. */
  readonly tokens: Int32Array
}

/** Classes (T/2, T], (T/4, T/2], (T/8, T/4] and the rest: within one, lengths differ by less than a factor of two. */
export const LENGTH_CLASSES = 4

export function lengthClass(tokens: number, budget: number): number {
  for (let k = 0; k < LENGTH_CLASSES - 1; k++) if (tokens * 2 ** (k + 1) > budget) return k
  return LENGTH_CLASSES - 1
}

export interface PlaceboPool {
  /**
   * Up to `count` different entries of other groups than the run's, near copies of it included: of its own domain and length class; where they do not
   * suffice of its own class in other domains, then of neighbouring classes.
   * @param purpose what they are drawn for: equal purposes get equal draws
   */
  draw(
    run: Trajectory,
    request: { readonly lengthClass: number; readonly count: number; readonly purpose: readonly (string | number)[] },
  ): readonly PoolEntry[]
}

/** Fewer have no spread. */
const FEWEST_PLACEBOS = 2

/**
 * @param entries in the order of the runs
 * @param options.groupOf group of a run -> the group that it and its near copies are (data/near-duplicates.ts)
 * @throws training-data-insufficient where the other groups of some run hold no two interactions
 */
export function createPlaceboPool(
  entries: readonly PoolEntry[],
  options: { readonly targetTokens: number; readonly seed: number; readonly groupOf: ReadonlyMap<string, string> },
): PlaceboPool {
  const { targetTokens, seed } = options
  const groupOf = (run: Trajectory): string => options.groupOf.get(run.group) ?? run.group
  const countOf = new Map<string, number>()
  for (const { run } of entries) countOf.set(groupOf(run), (countOf.get(groupOf(run)) ?? 0) + 1)
  for (const [group, count] of countOf) {
    if (entries.length - count >= FEWEST_PLACEBOS) continue
    throw new AppError(
      'training-data-insufficient',
      `group ${JSON.stringify(group)} (with its near copies) holds ${count} of the ${entries.length} interactions, and placebos are interactions of other groups, at least ${FEWEST_PLACEBOS}: import runs of other tasks into the same file (\`keepready import\`), they may be of any kind`,
      { details: { group, groups: countOf.size } },
    )
  }
  const classOf = (entry: PoolEntry): number => lengthClass(entry.tokens.length, targetTokens)
  const byClass = Array.from({ length: LENGTH_CLASSES }, (_, k) => entries.filter((entry) => classOf(entry) === k))
  /** Candidate lists of one run's group and domain: runs are asked for one after the other. */
  let cached: { readonly group: string; readonly domain: string; readonly lists: Map<number, Candidates> } | null = null
  const candidates = (run: Trajectory, length: number): Candidates => {
    const group = groupOf(run)
    const { domain } = run
    if (cached?.group !== group || cached.domain !== domain) cached = { group, domain, lists: new Map() }
    const known = cached.lists.get(length)
    if (known !== undefined) return known
    const others = (byClass[length] ?? []).filter((entry) => groupOf(entry.run) !== group)
    const lists = {
      near: others.filter((entry) => entry.run.domain === domain),
      far: others.filter((entry) => entry.run.domain !== domain),
    }
    cached.lists.set(length, lists)
    return lists
  }
  return {
    draw(run, request) {
      const { count, purpose } = request
      const rng = createRng(deriveSeed(seed, 'placebos', ...purpose))
      const drawn: PoolEntry[] = []
      const take = (from: readonly PoolEntry[]): void => {
        const left = [...from.keys()]
        while (drawn.length < count && left.length > 0) {
          const at = rng.nextBelow(left.length)
          const entry = from[left[at] ?? 0]
          // The last one takes the place of the one that is gone: order does not matter to a draw.
          left[at] = left.at(-1) ?? 0
          left.pop()
          if (entry !== undefined) drawn.push(entry)
        }
      }
      for (const length of classesByDistance(request.lengthClass)) {
        const { near, far } = candidates(run, length)
        take(near)
        take(far)
        if (drawn.length >= count) break
      }
      return drawn
    },
  }
}

interface Candidates {
  readonly near: readonly PoolEntry[]
  readonly far: readonly PoolEntry[]
}

/** The class itself, then its neighbours, the longer one first. */
function classesByDistance(own: number): readonly number[] {
  return Array.from({ length: LENGTH_CLASSES }, (_, k) => k).sort(
    (a, b) => Math.abs(a - own) - Math.abs(b - own) || a - b,
  )
}
