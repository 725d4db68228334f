/**
 * A real run replayed checkpoint by checkpoint, as a server sees it: how many tokens each one computes with and without
 * the states of earlier checkpoints (prefix cache). Tokens are counted, not timed, so two layers of the model are enough.
 */
import { importFiles } from '../../data/import/import-files.ts'
import { DEFAULT_PREFIX_CACHE_MB, prefixCacheBytes } from '../../models/frozen-lm/prefix-cache.ts'
import { startWorkerExtractor } from '../../models/frozen-lm/worker-extractor.ts'
import { packageFile } from '../../models/package-root.ts'
import { endCheckpoint, type Trajectory } from '../trajectory/trajectory.ts'
import { createRecipe, DEFAULT_RECIPE, defaultWindow, type RecentWindow, type RecipeName } from '../view/recipe.ts'

export interface ReplayTokens {
  readonly recipe: RecipeName
  readonly window: RecentWindow
  readonly run: string
  /** Replayed one after the other; the first of them, which finds nothing, is not counted. */
  readonly checkpoints: number
  readonly computedTokens: number
  readonly computedTokensWithCache: number
}

/** As a session of the server has it. */
const VECTOR_CACHE_BYTES = 64 << 20
/** Tokens do not depend on depth, but bytes of states do: the bound shrinks with the layers. */
const REPLAY_LAYER = 2
/** The default first. A checkpoint of shared-first computes every target, so fewer of them are replayed. */
const RECIPES: readonly { readonly name: RecipeName; readonly window: RecentWindow; readonly share: number }[] = [
  { name: DEFAULT_RECIPE.name, window: DEFAULT_RECIPE.window, share: 1 },
  { name: DEFAULT_RECIPE.name, window: DEFAULT_RECIPE.window === 'fixed' ? 'growing' : 'fixed', share: 1 },
  { name: 'shared-first', window: defaultWindow('shared-first'), share: 1 / 4 },
]
/** By then the recent section is full; later starts only make the first checkpoint, which is not counted, longer. */
const FIRST_CHECKPOINT = 8

/**
 * @param options.layer the layer that is served: the cache's bound is that of a server with it
 * @returns for the default recipe first; none if the package has no sample log
 */
export async function replayRun(options: {
  readonly directory: string
  readonly layer: number
  /** How many are counted. */
  readonly checkpoints: number
  readonly signal: AbortSignal
  readonly onCheckpoint: (done: number) => void
}): Promise<readonly ReplayTokens[]> {
  const trajectory = await sampleRun(options.signal)
  if (trajectory === null) return []
  const replays: ReplayTokens[] = []
  let done = 0
  for (const { name: recipe, window, share } of RECIPES) {
    const checkpoints = checkpointsOf(trajectory, replayLength(options.checkpoints, share))
    const counts: number[] = []
    for (const cached of [false, true])
      counts.push(
        await countTokens({ ...options, trajectory, recipe, window, cached, checkpoints }, () =>
          options.onCheckpoint(++done),
        ),
      )
    const [computedTokens = 0, computedTokensWithCache = 0] = counts
    replays.push({
      recipe,
      window,
      run: trajectory.id,
      checkpoints: checkpoints.length - 1,
      computedTokens,
      computedTokensWithCache,
    })
  }
  return replays
}

/** Steps of replayRun, for progress. */
export function replaySteps(checkpoints: number): number {
  return RECIPES.reduce((sum, { share }) => sum + 2 * replayLength(checkpoints, share), 0)
}

/** One more than what is counted. */
function replayLength(checkpoints: number, share: number): number {
  return 1 + Math.max(1, Math.round(checkpoints * share))
}

async function sampleRun(signal: AbortSignal): Promise<Trajectory | null> {
  const { trajectories } = await importFiles([packageFile('data', 'samples', 'demo-history')], { signal })
  return [...trajectories].sort((a, b) => b.interactions.length - a.interactions.length)[0] ?? null
}

function checkpointsOf(trajectory: Trajectory, count: number): readonly number[] {
  const end = endCheckpoint(trajectory)
  const first = Math.max(2, Math.min(FIRST_CHECKPOINT, end - count))
  return Array.from({ length: Math.min(count, end - first) }, (_, i) => first + i)
}

async function countTokens(
  replay: {
    readonly directory: string
    readonly layer: number
    readonly checkpoints: readonly number[]
    readonly signal: AbortSignal
    readonly trajectory: Trajectory
    readonly recipe: RecipeName
    readonly window: RecentWindow
    readonly cached: boolean
  },
  onCheckpoint: () => void,
): Promise<number> {
  const { directory, layer, trajectory, recipe, window, cached, signal } = replay
  const replayLayer = Math.min(REPLAY_LAYER, layer)
  const extractor = await startWorkerExtractor({
    directory,
    layer: replayLayer,
    recipe: createRecipe(recipe, { window }),
    storageDtype: 'f32',
    vectorCacheBytes: VECTOR_CACHE_BYTES,
    prefixCacheBytes: cached ? Math.floor((prefixCacheBytes(DEFAULT_PREFIX_CACHE_MB) * replayLayer) / layer) : 0,
  })
  try {
    let tokens = 0
    for (const [at, checkpoint] of replay.checkpoints.entries()) {
      const { computedTokens } = await extractor.extract({ trajectory, checkpoints: [checkpoint] }, { signal })
      if (at > 0) tokens += computedTokens
      onCheckpoint()
    }
    return tokens
  } finally {
    await extractor.close()
  }
}
