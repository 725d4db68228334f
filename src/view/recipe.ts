/**
 * Recipes and section budgets of bounded views (paper 4.1, C; DESIGN section 6). Pure.
 * Everything here is part of the representation id: change a text or a number and routers must be retrained.
 */
import { AppError } from '../errors.ts'

/** Raised only when golden views change. */
export const RECIPE_VERSION = 1

/** What each one reads: recipe-shape.ts. */
export const RECIPE_NAMES = [
  'once',
  'shared-first',
  'target-first',
  'recent0',
  'recent1',
  'recent2',
  'recent4',
  'recent8',
  'same-prefix',
  'hybrid',
  'full',
] as const
export type RecipeName = (typeof RECIPE_NAMES)[number]

/**
 * fixed    always the last K_ctx interactions before the newest, long ones cut so that all of them fit
 * growing  from K_ctx to 2 K_ctx interactions, then K_ctx again: from one checkpoint to the next it is only appended to,
 *          most of the time, so that the states of its interactions can be reused; each has the same share of the budget
 */
export const RECENT_WINDOWS = ['fixed', 'growing'] as const
export type RecentWindow = (typeof RECENT_WINDOWS)[number]

/** Token budgets of a view's sections; `view` bounds the whole view (paper: 5,120). All > 0. */
export interface ViewBudgets {
  readonly view: number
  readonly head: number
  /** All context of a view: recent interactions and similar ones. */
  readonly recent: number
  readonly state: number
  readonly target: number
  /** Both readout lines together. */
  readonly readout: number
}

export interface Recipe {
  readonly name: RecipeName
  /** K_ctx, interactions of context beside target and newest (paper: 4). */
  readonly recentInteractions: number
  readonly window: RecentWindow
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

export const DEFAULT_RECIPE: Recipe = {
  name: 'once',
  recentInteractions: 4,
  window: 'growing',
  budgets: DEFAULT_BUDGETS,
}

/** K_ctx of a recipe whose name says it, else null. */
export function contextOfName(name: RecipeName): number | null {
  const digits = /^recent(\d+)$/.exec(name)?.[1]
  return digits === undefined ? null : Number(digits)
}

/**
 * Where nobody chooses. Growing for `once`: 2.2 times fewer tokens per checkpoint with the prefix cache, and routers no
 * worse (training/LOG.md, "The growing window on long runs"); not measured for the others, which are the paper's.
 */
export function defaultWindow(name: RecipeName): RecentWindow {
  return name === DEFAULT_RECIPE.name ? DEFAULT_RECIPE.window : 'fixed'
}

/** Recipes whose views hold no recent interactions: a window has no meaning there. */
const WITHOUT_RECENT: readonly RecipeName[] = ['recent0', 'same-prefix', 'full']

/**
 * The recipe of this name with the default context.
 *   view    tokens of a whole view; default 5,120
 *   window  default: defaultWindow(name)
 * @throws option-invalid for a growing window of a recipe that holds no recent interactions
 */
export function createRecipe(
  name: RecipeName,
  options: { readonly view?: number; readonly window?: RecentWindow } = {},
): Recipe {
  const { view = DEFAULT_BUDGETS.view, window = defaultWindow(name) } = options
  if (window === 'growing' && WITHOUT_RECENT.includes(name))
    throw new AppError(
      'option-invalid',
      `recipe ${name} has no window of recent interactions that could grow: leave the window fixed`,
    )
  return {
    name,
    recentInteractions: contextOfName(name) ?? DEFAULT_RECIPE.recentInteractions,
    window,
    budgets: view === DEFAULT_BUDGETS.view ? DEFAULT_BUDGETS : scaleBudgets(view),
  }
}

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
