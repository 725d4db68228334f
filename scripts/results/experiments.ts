/**
 * What `npm run results` measures: which runs, read how, compared with what. Caps keep the whole within about two hours
 * on two cores; every cap is printed beside its table.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { RecentWindow, RecipeName } from '../../src/view/recipe.ts'

export interface RunSet {
  readonly name: string
  /** For people. */
  readonly what: string
  readonly keep: (run: Trajectory, index: number) => boolean
}

/** Four characters a token: only for choosing runs, never for a figure. */
function roughTokens(run: Trajectory): number {
  return Math.round(JSON.stringify([run.system, run.task, run.interactions, run.turns]).length / 4)
}

const MIN_LONG = 15
/** The embedded model and SmolLM2 read 8,192 tokens; the rough count may be a third too low. */
const WHOLE_CONTEXT = 5500

export const RUN_SETS = {
  all: { name: 'all', what: 'every imported run', keep: () => true },
  long: {
    name: 'long',
    what: `every second run of at least ${MIN_LONG} interactions`,
    keep: (run, index) => run.interactions.length >= MIN_LONG && index % 2 === 0,
  },
  'claude-code': {
    name: 'claude-code',
    what: 'Claude Code sessions of at least 8 interactions',
    keep: (run) => run.format === 'claude-code' && run.interactions.length >= 8,
  },
  whole: {
    name: 'whole',
    what: `runs of at least 8 interactions whose history fits the model's context (about ${WHOLE_CONTEXT} tokens)`,
    keep: (run) => run.interactions.length >= 8 && roughTokens(run) <= WHOLE_CONTEXT,
  },
} as const satisfies Readonly<Record<string, RunSet>>
export type RunSetName = keyof typeof RUN_SETS

export interface Experiment {
  readonly name: string
  readonly runs: RunSetName
  readonly model: 'tiny' | 'smollm2'
  /** null: two thirds of the depth. */
  readonly layer: number | null
  readonly recipe: RecipeName
  readonly window: RecentWindow
  readonly viewBudget: number
  readonly checkpoints: number
  readonly width: number
}

const BASE = {
  model: 'tiny',
  layer: null,
  recipe: 'once',
  window: 'growing',
  viewBudget: 1024,
  checkpoints: 8,
  width: 256,
} as const

export const EXPERIMENTS: readonly Experiment[] = [
  { ...BASE, name: 'all', runs: 'all' },
  { ...BASE, name: 'claude-code', runs: 'claude-code', checkpoints: 16 },
  { ...BASE, name: 'long', runs: 'long' },
  { ...BASE, name: 'long-layer-2', runs: 'long', layer: 2 },
  { ...BASE, name: 'long-layer-6', runs: 'long', layer: 6 },
  { ...BASE, name: 'long-recent0', runs: 'long', recipe: 'recent0', window: 'fixed', checkpoints: 4, viewBudget: 512 },
  {
    ...BASE,
    name: 'long-shared-first',
    runs: 'long',
    recipe: 'shared-first',
    window: 'fixed',
    checkpoints: 4,
    viewBudget: 512,
  },
  { ...BASE, name: 'long-once-short', runs: 'long', window: 'fixed', checkpoints: 4, viewBudget: 512 },
  { ...BASE, name: 'long-fixed', runs: 'long', window: 'fixed' },
  { ...BASE, name: 'whole-once', runs: 'whole', checkpoints: 6 },
  { ...BASE, name: 'whole-full', runs: 'whole', recipe: 'full', window: 'fixed', checkpoints: 6 },
  { ...BASE, name: 'smollm2', runs: 'claude-code', model: 'smollm2', checkpoints: 4, viewBudget: 512 },
]

export interface Comparison {
  readonly name: string
  readonly title: string
  readonly of: readonly string[]
}

export const COMPARISONS: readonly Comparison[] = [
  {
    name: 'full-or-bounded',
    title: 'Full context against bounded views, the same pairs',
    of: ['whole-full', 'whole-once'],
  },
  {
    name: 'state-free-or-not',
    title: 'State-conditioned targets (shared-first, recent0) against state-free ones (once)',
    of: ['long-shared-first', 'long-recent0', 'long-once-short'],
  },
  { name: 'layers', title: 'Layer of the embedded model', of: ['long', 'long-layer-2', 'long-layer-6'] },
  { name: 'window', title: 'Recent window: growing against fixed', of: ['long', 'long-fixed'] },
]
