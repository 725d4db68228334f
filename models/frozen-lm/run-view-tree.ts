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

interface PlannedStep extends Step {
  runs: boolean
  readonly below: PlannedStep[]
}

/** What the nodes above leave to one below. */
interface Above {
  readonly state: NodeState
  readonly viewTokens: number
  readonly truncatedTokens: number
  /** No other node needs that state after this one. */
  readonly last: boolean
  readonly depth: number
}

/** So many levels are walked before the stack is left: promises may nest deeper than calls. */
const LEVELS_A_TURN = 100

function needsTurn(depth: number): boolean {
  return depth % LEVELS_A_TURN === LEVELS_A_TURN - 1
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
        if (needsTurn(above.depth)) await Promise.resolve()
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
    if (needsTurn(above.depth)) await Promise.resolve()
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
      depth: above.depth + 1,
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
  const plan = planSteps(root, { cache, keyed: cache !== null || options.prefixes !== undefined })
  await visit(plan.first, { state: ROOT_STATE, viewTokens: 0, truncatedTokens: 0, last: true, depth: 0 })
  return { vectors, savedTokens: plan.tokens - counts.computedTokens, ...counts }
}

/** Steps in the order of the tree; without recursion, since a history of thousands of interactions is as deep a tree. */
function planSteps(
  root: ViewNode,
  options: { readonly cache: VectorCache | null; readonly keyed: boolean },
): { readonly first: Step; readonly tokens: number } {
  const { cache, keyed } = options
  const order: PlannedStep[] = []
  const open: { readonly node: ViewNode; readonly parent: PlannedStep | null }[] = [{ node: root, parent: null }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent } = next
    invariant(node.emit === null || node.tokens.length > 0, 'a view node that emits has tokens')
    const parentKey = parent?.key ?? ''
    const key = keyed && node.tokens.length > 0 ? viewKey(parentKey, node.tokens) : parentKey
    const known = node.emit === null ? undefined : cache?.get(key)
    const step: PlannedStep = { node, key, known, runs: node.emit !== null && known === undefined, below: [] }
    parent?.below.push(step)
    order.push(step)
    for (const child of node.children.toReversed()) open.push({ node: child, parent: step })
  }
  let tokens = 0
  // A node stands before those below it.
  for (const step of order.toReversed()) {
    step.runs ||= step.below.some((lower) => lower.runs)
    if (step.runs) tokens += step.node.tokens.length
  }
  return { first: invariant(order[0], 'a tree has a root'), tokens }
}
