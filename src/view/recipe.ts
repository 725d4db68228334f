/**
 * Recipes and section budgets of bounded views (paper 4.1, C; DESIGN section 6). Pure.
 * Everything here is part of the representation id: change a text or a number and routers must be retrained.
 */

/** Raised only when golden views change. */
export const RECIPE_VERSION = 1

export type RecipeName = 'once' | 'shared-first'
export const RECIPE_NAMES = ['once', 'shared-first'] as const satisfies readonly RecipeName[]

/** Token budgets of a view's sections; `view` bounds the whole view (paper: 5,120). All > 0. */
export interface ViewBudgets {
  readonly view: number
  readonly head: number
  readonly recent: number
  readonly state: number
  readonly target: number
  /** Both readout lines together. */
  readonly readout: number
}

export interface Recipe {
  readonly name: RecipeName
  /** K_ctx, interactions before the newest that the recent section holds (paper: 4). */
  readonly recentInteractions: number
  readonly budgets: ViewBudgets
}

export const DEFAULT_BUDGETS: ViewBudgets = {
  view: 5120,
  head: 640,
  recent: 2048,
  state: 1024,
  target: 1280,
  readout: 128,
}

export const DEFAULT_RECIPE: Recipe = { name: 'once', recentInteractions: 4, budgets: DEFAULT_BUDGETS }

/** The same shares of a smaller (or larger) view: every section scaled and rounded down, at least 16 tokens each. */
export function scaleBudgets(view: number): ViewBudgets {
  const scale = (tokens: number): number => Math.max(16, Math.floor((tokens * view) / DEFAULT_BUDGETS.view))
  return {
    view,
    head: scale(DEFAULT_BUDGETS.head),
    recent: scale(DEFAULT_BUDGETS.recent),
    state: scale(DEFAULT_BUDGETS.state),
    target: scale(DEFAULT_BUDGETS.target),
    readout: Math.max(48, scale(DEFAULT_BUDGETS.readout)),
  }
}
