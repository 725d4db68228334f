/**
 * Which actions of a run are measured. Pure.
 */
import { createRng, deriveSeed } from '../../../src/rng.ts'
import { actionText } from '../../../src/trajectory/interaction-text.ts'
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'

/**
 * Interactions with an action and something before it; of more than `max`, one from each of `max` equal pieces of them.
 *   returns  ascending; depends on the run's id and actions and on the seed only
 */
export function chooseActions(
  run: Trajectory,
  options: { readonly max: number; readonly seed: number },
): readonly Interaction[] {
  const { max, seed } = options
  const all = run.interactions.slice(1).filter((interaction) => actionText(interaction).trim() !== '')
  if (all.length <= max) return all
  const rng = createRng(deriveSeed(seed, 'counterfactual-actions', run.id))
  return Array.from({ length: max }, (_, k) => {
    const start = Math.floor((k * all.length) / max)
    const end = Math.floor(((k + 1) * all.length) / max)
    return all[start + rng.nextBelow(end - start)]
  }).filter((interaction) => interaction !== undefined)
}
