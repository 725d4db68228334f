/**
 * Recipes as data: which sections stand in which node of the view tree, and what is read at its end. Pure.
 * A new recipe is a new entry; the builder (build-view-tree.ts) and the executor (models/frozen-lm) stay as they are.
 */
import type { RecipeName } from './recipe.ts'

export type SectionName = 'head' | 'recent' | 'state' | 'state-readout' | 'target' | 'target-readout'

/**
 * One level of the tree: a node per thing in `per`, with the sections' tokens, and the levels below it.
 *   per `run`         one node
 *   per `checkpoint`  one node for each checkpoint asked for
 *   per `target`      one node for each target of the checkpoint above; without one, of any checkpoint asked for
 */
export interface TreeLevel {
  readonly per: 'run' | 'checkpoint' | 'target'
  readonly sections: readonly SectionName[]
  /** Read the hidden state of the node's last token as a candidate or a state vector. */
  readonly emit: 'h' | 'q' | null
  readonly below: readonly TreeLevel[]
}

const TARGETS: TreeLevel = { per: 'target', sections: ['target', 'target-readout'], emit: 'h', below: [] }
const STATES: TreeLevel = { per: 'checkpoint', sections: ['recent', 'state', 'state-readout'], emit: 'q', below: [] }

export const RECIPE_SHAPES: Readonly<Record<RecipeName, TreeLevel>> = {
  once: { per: 'run', sections: ['head'], emit: null, below: [TARGETS, STATES] },
  'shared-first': { per: 'run', sections: ['head'], emit: null, below: [{ ...STATES, below: [TARGETS] }] },
}
