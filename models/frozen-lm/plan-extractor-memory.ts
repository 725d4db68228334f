/** What an extractor will take, before its process is started. */
import type { Recipe } from '../../src/view/recipe.ts'
import { openCheckpoint } from './checkpoint.ts'
import { completeExecution } from './execution.ts'
import type { ExtractorOptions } from './extraction.ts'
import { resolveLayer } from './load-frozen-lm.ts'
import { type MemoryPlan, planMemory } from './memory-plan.ts'

/** Tokens that no view of the recipe exceeds; Infinity where only the model's context bounds it. */
export function longestView({ name, budgets }: Recipe): number {
  return name === 'full' ? Number.POSITIVE_INFINITY : budgets.view
}

/** @throws memory-budget-too-small, layer-out-of-range, and what openCheckpoint throws */
export function planExtractorMemory(options: ExtractorOptions): MemoryPlan {
  const { directory, layer: wanted, recipe, execution, vectorCacheBytes = 0, prefixCacheBytes = 0 } = options
  const checkpoint = openCheckpoint(directory)
  const { layerCount, contextLength } = checkpoint.config
  return planMemory({
    checkpoint,
    layer: resolveLayer({ directory, wanted, layerCount }),
    execution: completeExecution(execution),
    viewTokens: Math.min(contextLength, longestView(recipe)),
    cacheBytes: vectorCacheBytes + prefixCacheBytes,
  })
}
