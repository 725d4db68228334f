/**
 * How many tokens a server would compute for a run that it scores again after every interaction: exact counts of the
 * same views, executor and caches as extraction, over a frozen LM that computes nothing.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { Recipe } from '../../src/view/recipe.ts'
import type { Tokenizer } from '../tokenizer/port.ts'
import type { PrefixCacheUse } from './extraction.ts'
import { assembleExtractor } from './extractor.ts'
import type { FrozenLm, StateHandle } from './port.ts'
import { createRepresentation } from './representation.ts'

export interface ReplayRequest {
  readonly trajectory: Trajectory
  /** In the order in which they are asked for. */
  readonly checkpoints: readonly number[]
  readonly recipe: Recipe
  readonly tokenizer: Tokenizer
  readonly contextLength: number
  /** Keys and values of one token in all layers: what decides how many states the bound holds. */
  readonly stateBytesPerToken: number
  readonly prefixCacheBytes: number
  readonly vectorCacheBytes: number
}

export interface ReplayedCheckpoint {
  readonly checkpoint: number
  readonly computedTokens: number
  readonly prefixCache: PrefixCacheUse
}

/** @throws what buildViewTree throws */
export async function countReplay(request: ReplayRequest): Promise<readonly ReplayedCheckpoint[]> {
  const { trajectory, recipe, tokenizer, prefixCacheBytes, vectorCacheBytes } = request
  const extractor = assembleExtractor({
    lm: countingLm(request),
    tokenizer,
    representation: createRepresentation({
      model: { name: 'counting', architecture: 'none', hiddenSize: 1, filesSha256: '' },
      layer: 0,
      storageDtype: 'f32',
      recipe,
    }),
    prefixCacheBytes,
    vectorCacheBytes,
  })
  const replayed: ReplayedCheckpoint[] = []
  for (const checkpoint of request.checkpoints) {
    const { computedTokens, prefixCache } = await extractor.extract({ trajectory, checkpoints: [checkpoint] })
    replayed.push({ checkpoint, computedTokens, prefixCache })
  }
  await extractor.close()
  return replayed
}

function countingLm(model: Pick<ReplayRequest, 'contextLength' | 'stateBytesPerToken' | 'tokenizer'>): FrozenLm {
  const { contextLength, stateBytesPerToken, tokenizer } = model
  return {
    info: {
      architecture: 'none',
      hiddenSize: 1,
      layerCount: 0,
      layer: 0,
      contextLength,
      vocabularySize: tokenizer.vocabularySize,
      device: 'cpu',
    },
    async prefill(tokens, { past, keepState }) {
      const tokenCount = (past?.tokenCount ?? 0) + tokens.length
      const state: StateHandle = { tokenCount, sizeBytes: tokenCount * stateBytesPerToken }
      return { hidden: { data: new Float32Array(1), rows: 1, cols: 1 }, state: keepState ? state : null }
    },
    dispose: () => undefined,
    close: () => Promise.resolve(),
  }
}
