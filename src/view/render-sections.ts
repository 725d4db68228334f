/**
 * Sections of one trajectory as runs of tokens, each rendered once. Where a recipe shares what several checkpoints have
 * in common, a section is cut into several runs. Pure.
 */
import { AppError, invariant } from '../errors.ts'
import { type Interaction, prefixAt, type Trajectory, targetsAt } from '../trajectory/trajectory.ts'
import { fitBudgets, type SectionBudgets } from './fit-budgets.ts'
import {
  chosenBlocks,
  FIRST_READOUT,
  growingSteps,
  headBlocks,
  interactionBlocks,
  lastTurns,
  recentBlocks,
  STATE_READOUT,
  type Step,
  stateBlocks,
  stepBlocks,
  TARGET_READOUT,
} from './layout.ts'
import { contextOfName, type RecentWindow, type Recipe } from './recipe.ts'
import { contextCounts, RECIPE_SHAPES, type RecipeShape, type SectionName } from './recipe-shape.ts'
import { type Block, concatTokens, renderGroups, renderSection, type Section } from './section.ts'
import { createSimilarityIndex } from './similar-interactions.ts'
import type { ViewEncoder } from './view-encoder.ts'

/** What a section is rendered for; null where it does not matter. */
export interface SectionScope {
  readonly checkpoint: number | null
  readonly interaction: Interaction | null
}

export interface SectionRun extends Section {
  /** Equal keys are equal runs of this trajectory. */
  readonly key: string
  /** What follows is a run of its own. */
  readonly cutAfter: boolean
}

export type SectionRenderer = (name: SectionName, scope: SectionScope) => readonly SectionRun[]

/**
 * @throws option-invalid (budgets, or a K_ctx that is not the one the recipe's name says), context-too-short; the
 *   renderer throws context-too-short where a text of an unbounded recipe is longer than the encoder's window
 */
export function createSectionRenderer(request: {
  readonly trajectory: Trajectory
  readonly recipe: Recipe
  readonly contextLength: number
  readonly encoder: ViewEncoder
}): SectionRenderer {
  const { trajectory, recipe, contextLength, encoder } = request
  requireNamedContext(recipe)
  const shape = RECIPE_SHAPES[recipe.name]
  const counts = contextCounts(shape, recipe.recentInteractions)
  const { prefixIds } = encoder.tokenizer
  const readoutOf = (text: string): Section => ({ tokens: encoder.encode(text).head, truncatedTokens: 0 })
  const lines = {
    'state-readout': readoutOf(STATE_READOUT),
    'target-readout': readoutOf(TARGET_READOUT),
    'first-readout': readoutOf(FIRST_READOUT),
  }
  const readoutTokens = lines['state-readout'].tokens.length + targetLineTokens(shape, lines)
  const budgets = shape.bounded
    ? fitBudgets({ budgets: recipe.budgets, contextLength, readoutTokens, prefixTokens: prefixIds.length })
    : UNBOUNDED
  const context = shareContext(budgets.recent, counts)
  const index = createSimilarityIndex(encoder)
  const rendered = new Map<string, readonly SectionRun[]>()

  const whole = (blocks: readonly Block[], budget: number): Section => {
    const section = renderSection(encoder, blocks, budget)
    if (!shape.bounded && section.truncatedTokens > 0) throw tooLong(recipe, contextLength)
    return section
  }
  const prefixOf = (scope: SectionScope): Trajectory =>
    prefixAt(trajectory, invariant(scope.checkpoint, 'the section stands under a checkpoint'))
  const targetOf = (scope: SectionScope): Interaction =>
    invariant(scope.interaction, 'the section is of an interaction')

  const similarTo = (scope: SectionScope): readonly Interaction[] => {
    if (counts.similar === 0) return []
    const checkpoint = invariant(scope.checkpoint, 'similar interactions stand under a checkpoint')
    const pool = targetsAt(trajectory, checkpoint)
    const beforeRecent = pool.slice(0, Math.max(0, pool.length - counts.recent))
    return index.mostSimilar(targetOf(scope), beforeRecent, counts.similar)
  }
  const growing = (scope: SectionScope): readonly Step[] => growingSteps(prefixOf(scope), counts.recent)
  /** Each step has its own share, so that it is the same run whatever else stands in the window. */
  const stepRuns = ({ interaction, turns }: Step): { readonly turns: Section; readonly interaction: Section } => {
    const share = Math.floor(context.recent / (2 * counts.recent + 1))
    const before = renderSection(encoder, turns, Math.floor(share / 2))
    const rest = share - before.tokens.length
    return { turns: before, interaction: renderSection(encoder, interactionBlocks(interaction), rest) }
  }
  const growingRecent = (scope: SectionScope): readonly Section[] => {
    const steps = growing(scope)
    return steps.flatMap((step, k) => {
      const runs = stepRuns(step)
      // The newest interaction stands in the state.
      return k === steps.length - 1 ? [runs.turns] : [runs.turns, runs.interaction]
    })
  }

  /** The section as one run or, where the window grows, as several. */
  const sectionsOf = (name: SectionName, scope: SectionScope): readonly Section[] => {
    switch (name) {
      case 'head': {
        const head = whole(headBlocks(trajectory), budgets.head)
        return [{ ...head, tokens: concatTokens([prefixIds, head.tokens]) }]
      }
      case 'recent':
        if (recipe.window === 'growing') return growingRecent(scope)
        return [renderSection(encoder, recentBlocks(prefixOf(scope), counts.recent), context.recent)]
      case 'similar':
        return [renderSection(encoder, chosenBlocks(similarTo(scope)), context.similar)]
      case 'state': {
        const prefix = prefixOf(scope)
        if (recipe.window === 'fixed') return [renderSection(encoder, stateBlocks(prefix), budgets.state)]
        const newest = prefix.interactions.at(-1)
        const groups = [newest === undefined ? [] : interactionBlocks(newest), lastTurns(prefix)]
        return renderGroups(encoder, groups, budgets.state)
      }
      case 'step':
        return [whole(stepBlocks(trajectory, targetOf(scope)), budgets.target)]
      case 'turns':
        return [whole(lastTurns(prefixOf(scope)), budgets.state)]
      case 'target':
        return [renderSection(encoder, interactionBlocks(targetOf(scope)), budgets.target)]
      case 'state-readout':
      case 'target-readout':
      case 'first-readout':
        return [lines[name]]
      default:
        return name satisfies never
    }
  }
  return (name, scope) => {
    const key = `${name}:${keyOf(name, scope)}`
    const runs = rendered.get(key) ?? toRuns({ name, key, window: recipe.window }, sectionsOf(name, scope))
    rendered.set(key, runs)
    return runs
  }
}

/** What a growing window appends ends a run, and so does the newest interaction: the next checkpoint may start there. */
function toRuns(
  section: { readonly name: SectionName; readonly key: string; readonly window: RecentWindow },
  parts: readonly Section[],
): readonly SectionRun[] {
  const { name, key, window } = section
  return parts.map((part, k) => ({
    ...part,
    key: `${key}/${k}`,
    cutAfter: window === 'growing' && (name === 'recent' || (name === 'state' && k < parts.length - 1)),
  }))
}

function keyOf(name: SectionName, { checkpoint, interaction }: SectionScope): string {
  switch (name) {
    case 'recent':
    case 'state':
    case 'turns':
      return `${checkpoint}`
    case 'target':
    case 'step':
      return `${interaction?.index}`
    case 'similar':
      return `${checkpoint}:${interaction?.index}`
    case 'head':
    case 'state-readout':
    case 'target-readout':
    case 'first-readout':
      return ''
    default:
      return name satisfies never
  }
}

const UNBOUNDED: SectionBudgets = {
  head: Number.POSITIVE_INFINITY,
  recent: Number.POSITIVE_INFINITY,
  state: Number.POSITIVE_INFINITY,
  target: Number.POSITIVE_INFINITY,
}

/** The context budget by number of interactions; without recent ones the turns up to the newest have one share. */
function shareContext(
  budget: number,
  counts: { readonly recent: number; readonly similar: number },
): { readonly recent: number; readonly similar: number } {
  if (counts.similar === 0) return { recent: budget, similar: 0 }
  const shares = Math.max(1, counts.recent)
  const recent = Math.floor((budget * shares) / (shares + counts.similar))
  return { recent, similar: budget - recent }
}

function targetLineTokens(
  shape: RecipeShape,
  lines: Readonly<Record<'target-readout' | 'first-readout', Section>>,
): number {
  const usesFirst = JSON.stringify(shape.tree).includes('first-readout')
  return lines[usesFirst ? 'first-readout' : 'target-readout'].tokens.length
}

function requireNamedContext({ name, recentInteractions }: Recipe): void {
  const named = contextOfName(name)
  if (named === null || named === recentInteractions) return
  throw new AppError(
    'option-invalid',
    `recipe ${name} has ${named} recent interactions by its name, not ${recentInteractions}: take another recipe`,
  )
}

function tooLong(recipe: Recipe, contextLength: number): AppError {
  return new AppError(
    'context-too-short',
    `recipe ${recipe.name} reads everything, but one text alone is longer than the model's context of ${contextLength} tokens: take a bounded recipe or a model with a longer context`,
    { details: { limit: contextLength } },
  )
}
