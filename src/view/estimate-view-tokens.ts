/**
 * How many tokens a checkpoint's views take, from texts that are not tokenised yet: what a queue can count in. Pure.
 */
import { interactionText } from '../trajectory/interaction-text.ts'
import { type Trajectory, targetsAt } from '../trajectory/trajectory.ts'
import type { Recipe } from './recipe.ts'
import { contextCounts, RECIPE_SHAPES, type SectionName, type TreeLevel } from './recipe-shape.ts'

/** Characters a token: low, so that the estimate errs on the high side for code. Assumption. */
const CHARACTERS_PER_TOKEN = 2.5

/** Tokens of all runs of one checkpoint's view tree; sections count with their whole budgets, targets with their texts. */
export function estimateViewTokens(trajectory: Trajectory, checkpoint: number, recipe: Recipe): number {
  const shape = RECIPE_SHAPES[recipe.name]
  const { budgets } = recipe
  const textTokens = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN)
  const targets = targetsAt(trajectory, checkpoint).map((target) => textTokens(interactionText(target)))
  const newest = trajectory.interactions.findLast(({ index }) => index < checkpoint)
  const { similar } = contextCounts(shape, recipe.recentInteractions)

  const sectionTokens = (name: SectionName, target: number): number => {
    switch (name) {
      case 'head':
        return shape.bounded ? budgets.head : textTokens(trajectory.system) + textTokens(trajectory.task)
      case 'recent':
        return budgets.recent
      case 'similar':
        return similar === 0 ? 0 : budgets.recent
      case 'state':
        return budgets.state
      case 'target':
        return Math.min(budgets.target, target)
      case 'step':
        return target
      case 'turns':
      case 'state-readout':
        return 0
      case 'target-readout':
      case 'first-readout':
        return budgets.readout
      default:
        return name satisfies never
    }
  }
  const levelTokens = (level: TreeLevel, target: number): number =>
    level.sections.reduce((sum, name) => sum + sectionTokens(name, target), 0) +
    level.below.reduce((sum, lower) => sum + timesTokens(lower, target), 0)
  const timesTokens = (level: TreeLevel, target: number): number => {
    switch (level.per) {
      case 'run':
      case 'checkpoint':
        return levelTokens(level, target)
      case 'target':
        return targets.reduce((sum, tokens) => sum + levelTokens(level, tokens), 0)
      case 'step': {
        const last = newest === undefined ? [] : [textTokens(interactionText(newest))]
        return [...targets, ...last].reduce((sum, tokens) => sum + levelTokens(level, tokens), 0)
      }
      default:
        return level.per satisfies never
    }
  }
  return timesTokens(shape.tree, 0)
}
