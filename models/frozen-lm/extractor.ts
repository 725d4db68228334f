/**
 * Views, tokenizer and frozen LM put together: the one implementation of the extraction seam. It runs where it is
 * called; worker-extractor.ts and supervised-host.ts put it into a thread or a process.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../src/errors.ts'
import { decodeF16, encodeF16 } from '../../src/tensor/half.ts'
import { buildViewTree } from '../../src/view/build-view-tree.ts'
import { interactionTokens } from '../../src/view/interaction-tokens.ts'
import { RECIPE_SHAPES } from '../../src/view/recipe-shape.ts'
import { createViewEncoder } from '../../src/view/view-encoder.ts'
import type { Tokenizer } from '../tokenizer/port.ts'
import { throwIfAborted } from './abort-signal.ts'
import type { ExtractedVector, Extraction, Extractor } from './extraction.ts'
import type { FrozenLm } from './port.ts'
import { createPrefixCache } from './prefix-cache.ts'
import type { Representation, StorageDtype } from './representation.ts'
import { runViewTree, type ViewVector } from './run-view-tree.ts'
import { createVectorCache } from './vector-cache.ts'

/** Code units of text whose tokens stay cached: about 50 MB with their ids (2 bytes a unit, 4 a token). */
const MAX_CACHED_CHARS = 16_000_000

/** The longest that tokenising holds its thread before cancellations and other messages get a turn. */
const TURN_MS = 20

/**
 * @param parts.representation must describe the given LM and tokenizer; its recipe and storage dtype decide the rest
 * @returns an extractor that owns the LM: closing it closes the LM
 */
export function assembleExtractor(parts: {
  readonly lm: FrozenLm
  readonly tokenizer: Tokenizer
  readonly representation: Representation
  /** Bytes of vectors to remember for later requests; 0 for none. */
  readonly vectorCacheBytes: number
  /** Bytes of states to remember for later requests; 0 for none. */
  readonly prefixCacheBytes: number
}): Extractor {
  const { lm, tokenizer, representation, vectorCacheBytes } = parts
  const cache = vectorCacheBytes > 0 ? createVectorCache(vectorCacheBytes) : null
  const prefixes = createPrefixCache(lm, parts.prefixCacheBytes)
  const { recipe, storageDtype } = representation
  const { head, recent, state, target } = recipe.budgets
  const encoder = createViewEncoder(tokenizer, {
    largestSection: RECIPE_SHAPES[recipe.name].bounded ? Math.max(head, recent, state, target) : lm.info.contextLength,
    maxCachedChars: MAX_CACHED_CHARS,
  })

  return {
    representation,
    selfCheck: lm.info.selfCheck,
    async extract({ trajectory, checkpoints }, { signal, onProgress } = {}): Promise<Extraction> {
      const startMs = performance.now()
      const sourceTokens: number[] = []
      let turnEndsMs = startMs + TURN_MS
      for (const interaction of trajectory.interactions) {
        throwIfAborted(signal)
        sourceTokens.push(interactionTokens(encoder, interaction))
        if (performance.now() > turnEndsMs) {
          await nextTurn()
          turnEndsMs = performance.now() + TURN_MS
        }
      }
      const { contextLength } = lm.info
      const root = buildViewTree({ trajectory, checkpoints, recipe, contextLength, encoder })
      const builtMs = performance.now()
      const evictionsBefore = prefixes.evictions
      const run = await runViewTree(lm, root, { signal, onProgress, cache, prefixes })
      const { hits, misses, savedTokens } = run
      return {
        vectors: run.vectors.map((vector) => storedVector(vector, storageDtype)),
        computedTokens: run.computedTokens,
        prefixCache: {
          hits,
          misses,
          savedTokens,
          evictions: prefixes.evictions - evictionsBefore,
          sizeBytes: prefixes.sizeBytes,
        },
        interactionTokens: sourceTokens,
        tokenizeUs: Math.round((builtMs - startMs) * 1000),
        inferenceUs: Math.round((performance.now() - builtMs) * 1000),
      }
    },
    async close() {
      prefixes.clear()
      await lm.close()
    },
  }
}

/** @throws output-not-finite where a value does not fit the storage dtype */
function storedVector(vector: ViewVector, dtype: StorageDtype): ExtractedVector {
  const { emit, hidden, viewTokens, truncatedTokens } = vector
  return { ...emit, values: rounded(vector, hidden, dtype), viewTokens, truncatedTokens }
}

function rounded(vector: ViewVector, hidden: Float32Array, dtype: StorageDtype): Float32Array {
  if (dtype === 'f32') return hidden
  try {
    return decodeF16(encodeF16(hidden))
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    const { role, interaction, checkpoint } = vector.emit
    const where = [
      `vector ${role}`,
      ...(interaction === null ? [] : [`of interaction ${interaction}`]),
      ...(checkpoint === null ? [] : [`at checkpoint ${checkpoint}`]),
    ].join(' ')
    const message = `${where}: ${cause.message} (extract with --storage f32)`
    throw new AppError(cause.code, message, { details: cause.details, cause })
  }
}
