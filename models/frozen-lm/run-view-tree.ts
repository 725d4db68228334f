/**
 * Executes a tree of token runs on a frozen LM: every node's tokens once, alone (batch 1), behind its parent's state.
 * The same executor serves every recipe; runs are cut only where nodes end. It never looks at what a token means.
 */
import { invariant } from '../../src/errors.ts'
import { rowOf } from '../../src/tensor/matrix.ts'
import type { ViewEmit, ViewNode } from '../../src/view/build-view-tree.ts'
import type { FrozenLm, StateHandle } from './port.ts'
import { throwIfAborted } from './abort-signal.ts'

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
  /** Tokens computed: each node once. */
  readonly computedTokens: number
}

interface Above {
  readonly state: StateHandle | null
  readonly viewTokens: number
  readonly truncatedTokens: number
}

/**
 * At most one state per level of the tree lives at a time; each is disposed when its subtree is done or fails.
 * @param signal checked before every run; aborting throws its reason
 * @throws what the LM throws; interrupted
 */
export async function runViewTree(lm: FrozenLm, root: ViewNode, signal?: AbortSignal): Promise<TreeRun> {
  const vectors: ViewVector[] = []
  let computedTokens = 0

  const visit = async (node: ViewNode, above: Above): Promise<void> => {
    if (node.tokens.length === 0) {
      invariant(node.emit === null, 'a view node that emits has tokens')
      for (const child of node.children) await visit(child, above)
      return
    }
    throwIfAborted(signal)
    const keepState = node.children.length > 0
    const { hidden, state } = await lm.prefill(node.tokens, { past: above.state, rows: 'last', keepState })
    try {
      computedTokens += node.tokens.length
      const viewTokens = above.viewTokens + node.tokens.length
      const truncatedTokens = above.truncatedTokens + node.truncatedTokens
      if (node.emit !== null)
        vectors.push({ emit: node.emit, hidden: rowOf(hidden, 0).slice(), viewTokens, truncatedTokens })
      for (const child of node.children) await visit(child, { state, viewTokens, truncatedTokens })
    } finally {
      if (state !== null) lm.dispose(state)
    }
  }
  await visit(root, { state: null, viewTokens: 0, truncatedTokens: 0 })
  return { vectors, computedTokens }
}
