/**
 * Everything that will be measured, decided before the first run of the model: a value that can be counted and resumed.
 */
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'
import { chooseActions } from './choose-actions.ts'
import { lengthClass, type PlaceboPool, type PoolEntry } from './placebo-pool.ts'
import type { CounterfactualSettings } from './settings.ts'

/** Targets of one action that stand behind the same context and are of like length, and their placebos. */
export interface PlannedStratum {
  /** Left out of the recent interactions, since it is the target; null: older targets. */
  readonly without: Interaction | null
  readonly lengthClass: number
  readonly targets: readonly PoolEntry[]
  readonly placebos: readonly PoolEntry[]
}

export interface ActionPlan {
  readonly run: Trajectory
  readonly action: Interaction
  /** Strata with the same `without` stand together. */
  readonly strata: readonly PlannedStratum[]
}

/** All i < j for each chosen action j. */
export function planActions(
  run: Trajectory,
  parts: {
    /** The run's own interactions, in order. */
    readonly entries: readonly PoolEntry[]
    readonly pool: PlaceboPool
    readonly settings: CounterfactualSettings
  },
): readonly ActionPlan[] {
  const { entries, pool, settings } = parts
  const { maxActionsPerRun: max, recentInteractions, placebos: count, seed } = settings
  return chooseActions(run, { max, seed }).map((action) => {
    const before = entries.filter(({ interaction }) => interaction.index < action.index)
    const older = before.slice(0, Math.max(0, before.length - recentInteractions))
    const recent = before.slice(older.length)
    const contexts = [
      { without: null, targets: older },
      ...recent.map((entry) => ({ without: entry.interaction, targets: [entry] })),
    ]
    const strata = contexts.flatMap(({ without, targets }) =>
      [...byLength(targets, settings.targetTokens)].map(([length, members]): PlannedStratum => {
        const purpose = [run.id, action.index, without?.index ?? 'older', length]
        return {
          without,
          lengthClass: length,
          targets: members,
          placebos: pool.draw(run, { lengthClass: length, count, purpose }),
        }
      }),
    )
    return { run, action, strata }
  })
}

/** By class, longest first. */
function byLength(targets: readonly PoolEntry[], budget: number): ReadonlyMap<number, readonly PoolEntry[]> {
  const members = new Map<number, PoolEntry[]>()
  for (const target of targets) {
    const length = lengthClass(target.tokens.length, budget)
    members.set(length, [...(members.get(length) ?? []), target])
  }
  return new Map([...members].sort(([a], [b]) => a - b))
}

export interface MeasuringCost {
  readonly actions: number
  readonly targets: number
  readonly placebos: number
  /** At most: shared parts count with their whole budgets. */
  readonly tokens: number
}

export function costOfPlans(plans: Iterable<ActionPlan>, settings: CounterfactualSettings): MeasuringCost {
  const sum = { actions: 0, targets: 0, placebos: 0, tokens: 0 }
  for (const { strata } of plans) {
    sum.actions += 1
    const contexts = new Set(strata.map(({ without }) => without))
    sum.tokens += contexts.size * (settings.headTokens + settings.recentTokens)
    for (const { targets, placebos } of strata) {
      sum.targets += targets.length
      sum.placebos += placebos.length
      for (const { tokens } of [...targets, ...placebos]) sum.tokens += tokens.length + settings.actionTokens
    }
  }
  return sum
}
