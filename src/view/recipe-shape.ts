/**
 * Recipes as data: which sections stand in which node of the view tree, in which order, what is shared, and what is read
 * at a node's end. Pure.
 * A new recipe is a new entry; the builder (build-view-tree.ts) and the executor (models/frozen-lm) stay as they are.
 */
import type { RecipeName } from './recipe.ts'

/**
 *   head           system and task
 *   recent         the interactions before the newest, with the turns up to it
 *   similar        the interactions before the newest that are most like the target
 *   state          the newest interaction and the turns after it
 *   step           one interaction of the whole history, with the turns before it
 *   turns          the turns after the newest interaction
 *   *-readout      a fixed line at whose last token a vector is read
 */
export type SectionName =
  | 'head'
  | 'recent'
  | 'similar'
  | 'state'
  | 'step'
  | 'turns'
  | 'target'
  | 'state-readout'
  | 'target-readout'
  | 'first-readout'

/**
 * One level of the tree: a node per thing in `per`, with the sections' tokens, and the levels below it.
 *   per `run`         one node
 *   per `checkpoint`  one node for each checkpoint asked for; below a target those that have it as a target, below a
 *                     step those whose newest interaction it is
 *   per `target`      one node for each target of the checkpoint above; without one, of any checkpoint asked for
 *   per `step`        one node for each interaction of the history, each below the one before it
 */
export interface TreeLevel {
  readonly per: 'run' | 'checkpoint' | 'target' | 'step'
  readonly sections: readonly SectionName[]
  /** Read the hidden state of the node's last token as a candidate or a state vector. A step that is no target: none. */
  readonly emit: 'h' | 'q' | null
  readonly below: readonly TreeLevel[]
}

export interface RecipeShape {
  readonly tree: TreeLevel
  /** Where a view's K_ctx interactions of context come from; `half`: K_ctx / 2 recent (rounded up), the rest similar. */
  readonly context: 'recent' | 'similar' | 'half'
  /** Sections are cut to budgets. Else everything stands whole, and the model's context is the only limit. */
  readonly bounded: boolean
}

const TARGETS: TreeLevel = { per: 'target', sections: ['target', 'target-readout'], emit: 'h', below: [] }
const STATES: TreeLevel = { per: 'checkpoint', sections: ['recent', 'state', 'state-readout'], emit: 'q', below: [] }
const FULL_STATES: TreeLevel = { per: 'checkpoint', sections: ['turns', 'state-readout'], emit: 'q', below: [] }

const behindHead = (...below: TreeLevel[]): TreeLevel => ({ per: 'run', sections: ['head'], emit: null, below })

const SHARED_FIRST: RecipeShape = {
  tree: behindHead({ ...STATES, below: [{ ...TARGETS, sections: ['similar', 'target', 'target-readout'] }] }),
  context: 'recent',
  bounded: true,
}

export const RECIPE_SHAPES: Readonly<Record<RecipeName, RecipeShape>> = {
  once: { tree: behindHead(TARGETS, STATES), context: 'recent', bounded: true },
  'shared-first': SHARED_FIRST,
  'target-first': {
    tree: behindHead(STATES, {
      per: 'target',
      sections: ['target'],
      emit: null,
      below: [{ per: 'checkpoint', sections: ['recent', 'state', 'first-readout'], emit: 'h', below: [] }],
    }),
    context: 'recent',
    bounded: true,
  },
  recent0: SHARED_FIRST,
  recent1: SHARED_FIRST,
  recent2: SHARED_FIRST,
  recent4: SHARED_FIRST,
  recent8: SHARED_FIRST,
  'same-prefix': { ...SHARED_FIRST, context: 'similar' },
  hybrid: { ...SHARED_FIRST, context: 'half' },
  full: {
    tree: behindHead(FULL_STATES, { per: 'step', sections: ['step'], emit: 'h', below: [FULL_STATES] }),
    context: 'recent',
    bounded: false,
  },
}

/** Whether a recipe has one candidate vector for each interaction or one for each pair (interaction, checkpoint). */
export function candidatesPer(name: RecipeName): 'interaction' | 'pair' {
  const underCheckpoint = (level: TreeLevel, checkpoint: boolean): boolean => {
    const within = checkpoint || level.per === 'checkpoint'
    return (level.emit === 'h' && within) || level.below.some((lower) => underCheckpoint(lower, within))
  }
  return underCheckpoint(RECIPE_SHAPES[name].tree, false) ? 'pair' : 'interaction'
}

/** How many interactions of context are recent ones and how many are chosen by likeness. */
export function contextCounts(
  shape: RecipeShape,
  interactions: number,
): { readonly recent: number; readonly similar: number } {
  switch (shape.context) {
    case 'recent':
      return { recent: interactions, similar: 0 }
    case 'similar':
      return { recent: 0, similar: interactions }
    case 'half':
      return { recent: Math.ceil(interactions / 2), similar: Math.floor(interactions / 2) }
    default:
      return shape.context satisfies never
  }
}
