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
import { createPrefixCache, type PrefixCache, type StateLease } from './prefix-cache.ts'
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
  /** Tokens that would have been computed too, had no state been stored before. */
  readonly savedTokens: number
  /** Stored states that runs started from, or whose vector was read. */
  readonly hits: number
  /** States that had to be computed because none was stored. */
  readonly misses: number
}

export interface TreeRunOptions {
  /** Checked before every run; aborting throws its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called after every run and after every vector that was run for. */
  readonly onProgress?: ((progress: ExtractionProgress) => void) | undefined
  /** Subtrees whose vectors are all known are not run. The vectors are the same with and without it. */
  readonly cache?: VectorCache | null | undefined
  /** States of earlier trees to start from. The vectors are the same with and without it. */
  readonly prefixes?: PrefixCache | undefined
}

/** A node, what is known of it, and whether it has to run for itself or for a node below. */
interface Step {
  readonly node: ViewNode
  readonly key: string
  readonly known: Float32Array | undefined
  readonly runs: boolean
  readonly below: readonly Step[]
}

/** What the nodes above leave to one below. */
interface Above {
  readonly state: NodeState
  readonly viewTokens: number
  readonly truncatedTokens: number
  /** No other node needs that state after this one. */
  readonly last: boolean
}

/** The state after a node: found or computed when it is first needed, so that a prefix no run starts from is not. */
interface NodeState {
  lease(): Promise<StateLease | null>
  /** Nothing needs it any more. May be called again. */
  release(): void
}

const ROOT_STATE: NodeState = { lease: async () => null, release: () => undefined }

/**
 * Where no state is stored, at most one state per level of the tree lives at a time; each is let go when the last run
 * behind it has ended, and when the tree is done or fails.
 * @throws what the LM throws; interrupted
 */
export async function runViewTree(lm: FrozenLm, root: ViewNode, options: TreeRunOptions = {}): Promise<TreeRun> {
  const { signal, onProgress, cache = null, prefixes = createPrefixCache(lm, 0) } = options
  const vectors: ViewVector[] = []
  const counts = { computedTokens: 0, hits: 0, misses: 0 }

  const report = (): void => onProgress?.({ views: vectors.length, computedTokens: counts.computedTokens })
  const compute = async (step: Step, past: StateHandle | null): Promise<StateLease | Float32Array> => {
    throwIfAborted(signal)
    const { node, key, below } = step
    const keepState = below.some((next) => next.runs)
    const { hidden, state } = await lm.prefill(node.tokens, { past, rows: 'last', keepState })
    counts.computedTokens += node.tokens.length
    const last = rowOf(hidden, 0).slice()
    if (node.emit !== null) cache?.set(key, last)
    if (state === null) return last
    counts.misses += 1
    return prefixes.store(key, { state, hidden: last })
  }
  const nodeState = (step: Step, above: Above): NodeState & { hidden(): Promise<Float32Array> } => {
    let held: StateLease | null = null
    let leaf: Float32Array | null = null
    const obtain = async (): Promise<void> => {
      if (held !== null || leaf !== null) return
      held = prefixes.lease(step.key)
      if (held !== null) counts.hits += 1
      else {
        const past = await above.state.lease()
        const computed = await compute(step, past?.state ?? null)
        if (computed instanceof Float32Array) leaf = computed
        else held = computed
      }
      if (above.last) above.state.release()
      report()
    }
    return {
      async lease() {
        await obtain()
        return invariant(held, 'a node that others start from keeps its state')
      },
      async hidden() {
        await obtain()
        return leaf ?? invariant(held, 'a node that ran has a hidden state').hidden.slice()
      },
      release() {
        held?.release()
        held = null
      },
    }
  }
  const visit = async (step: Step, above: Above): Promise<void> => {
    const { node, known, below } = step
    const viewTokens = above.viewTokens + node.tokens.length
    const truncatedTokens = above.truncatedTokens + node.truncatedTokens
    const emit = (hidden: Float32Array): void => {
      if (node.emit !== null) vectors.push({ emit: node.emit, hidden, viewTokens, truncatedTokens })
    }
    const own = step.runs && node.tokens.length > 0 ? nodeState(step, above) : null
    const lastRun = below.findLastIndex((next) => next.runs)
    const belowOf = (k: number): Above => ({
      state: own ?? above.state,
      viewTokens,
      truncatedTokens,
      last: k === lastRun && (own !== null || above.last),
    })
    try {
      if (node.emit !== null) {
        emit(known ?? (await invariant(own, 'an unknown vector is run for').hidden()))
        if (known === undefined) report()
      }
      for (const [k, next] of below.entries()) await visit(next, belowOf(k))
    } finally {
      own?.release()
    }
  }
  const plan = planSteps(root, '', { cache, keyed: cache !== null || options.prefixes !== undefined })
  await visit(plan, { state: ROOT_STATE, viewTokens: 0, truncatedTokens: 0, last: true })
  return { vectors, savedTokens: plannedTokens(plan) - counts.computedTokens, ...counts }
}

function planSteps(
  node: ViewNode,
  parentKey: string,
  options: { readonly cache: VectorCache | null; readonly keyed: boolean },
): Step {
  invariant(node.emit === null || node.tokens.length > 0, 'a view node that emits has tokens')
  const key = options.keyed && node.tokens.length > 0 ? viewKey(parentKey, node.tokens) : parentKey
  const known = node.emit === null ? undefined : options.cache?.get(key)
  const below = node.children.map((child) => planSteps(child, key, options))
  const runs = (node.emit !== null && known === undefined) || below.some((step) => step.runs)
  return { node, key, known, runs, below }
}

/** What the plan computes where nothing is stored. */
function plannedTokens({ node, runs, below }: Step): number {
  return below.reduce((sum, step) => sum + plannedTokens(step), runs ? node.tokens.length : 0)
}
