/**
 * Executes a tree of token runs on a frozen LM: every node's tokens once, alone (batch 1), behind its parent's state.
 * The same executor serves every recipe; runs are cut only where nodes end. It never looks at what a token means.
 */
import { invariant } from '../../src/errors.ts'
import { rowOf } from '../../src/tensor/matrix.ts'
import type { ViewEmit, ViewNode } from '../../src/view/build-view-tree.ts'
import { throwIfAborted } from './abort-signal.ts'
import type { ExtractionProgress } from './extraction.ts'
import type { FrozenLm, StateHandle } from './port.ts'
import { type VectorCache, viewKey } from './vector-cache.ts'

export interface ViewVector {
  readonly emit: ViewEmit
  /** (hiddenSize) f32, a copy of its own. */
  readonly hidden: Float32Array
  /** Tokens from the root to this node's last token. */
  readonly viewTokens: number
  /** Source tokens left out on that path. */
  readonly truncatedTokens: number
}

export interface TreeRun {
  /** In pre-order of the tree. */
  readonly vectors: readonly ViewVector[]
  /** Tokens computed: each node at most once. */
  readonly computedTokens: number
}

export interface TreeRunOptions {
  /** Checked before every run; aborting throws its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called after every run. */
  readonly onProgress?: ((progress: ExtractionProgress) => void) | undefined
  /** Subtrees whose vectors are all known are not run. The vectors are the same with and without it. */
  readonly cache?: VectorCache | null | undefined
}

/** A node, what is known of it, and whether it has to run for itself or for a node below. */
interface Step {
  readonly node: ViewNode
  readonly key: string
  readonly known: Float32Array | undefined
  readonly runs: boolean
  readonly below: readonly Step[]
}

interface Above {
  readonly state: StateHandle | null
  readonly viewTokens: number
  readonly truncatedTokens: number
}

/**
 * At most one state per level of the tree lives at a time; each is disposed when its subtree is done or fails.
 * @throws what the LM throws; interrupted
 */
export async function runViewTree(lm: FrozenLm, root: ViewNode, options: TreeRunOptions = {}): Promise<TreeRun> {
  const { signal, onProgress, cache = null } = options
  const vectors: ViewVector[] = []
  let computedTokens = 0

  const visit = async (step: Step, above: Above): Promise<void> => {
    const { node, known, below } = step
    const viewTokens = above.viewTokens + node.tokens.length
    const truncatedTokens = above.truncatedTokens + node.truncatedTokens
    const emit = (hidden: Float32Array): void => {
      if (node.emit !== null) vectors.push({ emit: node.emit, hidden, viewTokens, truncatedTokens })
    }
    if (!step.runs || node.tokens.length === 0) {
      if (known !== undefined) emit(known)
      for (const next of below) await visit(next, { state: above.state, viewTokens, truncatedTokens })
      return
    }
    throwIfAborted(signal)
    const keepState = below.some((next) => next.runs)
    const { hidden, state } = await lm.prefill(node.tokens, { past: above.state, rows: 'last', keepState })
    try {
      computedTokens += node.tokens.length
      const last = rowOf(hidden, 0).slice()
      if (node.emit !== null) cache?.set(step.key, last)
      emit(last)
      onProgress?.({ views: vectors.length, computedTokens })
      for (const next of below) await visit(next, { state, viewTokens, truncatedTokens })
    } finally {
      if (state !== null) lm.dispose(state)
    }
  }
  await visit(planSteps(root, '', cache), { state: null, viewTokens: 0, truncatedTokens: 0 })
  return { vectors, computedTokens }
}

function planSteps(node: ViewNode, parentKey: string, cache: VectorCache | null): Step {
  invariant(node.emit === null || node.tokens.length > 0, 'a view node that emits has tokens')
  const key = cache === null ? '' : viewKey(parentKey, node.tokens)
  const known = node.emit === null ? undefined : cache?.get(key)
  const below = node.children.map((child) => planSteps(child, key, cache))
  const runs = (node.emit !== null && known === undefined) || below.some((step) => step.runs)
  return { node, key, known, runs, below }
}
