/**
 * Views as a tree of token runs with shared prefixes: a view is a path from the root to a node that emits. Pure.
 */
import { AppError, invariant } from '../errors.ts'
import { endCheckpoint, type Interaction, type Trajectory, targetsAt } from '../trajectory/trajectory.ts'
import type { Recipe } from './recipe.ts'
import { RECIPE_SHAPES, type TreeLevel } from './recipe-shape.ts'
import { createSectionRenderer, type SectionRun, type SectionScope } from './render-sections.ts'
import { concatSections, type Section } from './section.ts'
import type { ViewEncoder } from './view-encoder.ts'

/** Which vector a node's last token gives; indices are canonical, null where the recipe makes it independent of them. */
export interface ViewEmit {
  readonly role: 'h' | 'q'
  readonly interaction: number | null
  readonly checkpoint: number | null
}

export interface ViewNode {
  /** Of this node alone, to run behind its parent's state. Empty only where nothing is emitted. */
  readonly tokens: Int32Array
  /** Source tokens that truncation left out of this node. */
  readonly truncatedTokens: number
  readonly emit: ViewEmit | null
  readonly children: readonly ViewNode[]
}

export interface ViewRequest {
  readonly trajectory: Trajectory
  readonly checkpoints: readonly number[]
  readonly recipe: Recipe
  /** Most tokens the model takes. */
  readonly contextLength: number
  readonly encoder: ViewEncoder
}

interface Scope extends SectionScope {
  /** Checkpoints below are those with this newest interaction (null: without one); undefined: all. */
  readonly newest: Interaction | null | undefined
}

/**
 * All views that the checkpoints need. Children stand in ascending order of interaction or checkpoint; a checkpoint
 * asked for twice is there once. Every path has at most min(budgets.view, contextLength) tokens; under `full` it has at
 * most contextLength.
 * @throws option-invalid (a checkpoint outside 0 .. end), context-too-short
 */
export function buildViewTree(request: ViewRequest): ViewNode {
  const { trajectory, recipe } = request
  const checkpoints = [...new Set(request.checkpoints)].sort((a, b) => a - b)
  const end = endCheckpoint(trajectory)
  for (const c of checkpoints) {
    if (!Number.isSafeInteger(c) || c < 0 || c > end)
      throw new AppError('option-invalid', `checkpoint ${c} of ${trajectory.id} is outside 0 .. ${end}`)
  }
  const render = createSectionRenderer(request)
  const contents = new Map<string, Section>()
  /** Interactions of the last checkpoint: those of every earlier one are among them. */
  const interactions = trajectory.interactions.filter(({ index }) => index < (checkpoints.at(-1) ?? 0))
  const newestAt = new Map(
    checkpoints.map((c) => [c, trajectory.interactions.findLast(({ index }) => index < c) ?? null]),
  )

  const checkpointsIn = ({ interaction, newest }: Scope): readonly number[] =>
    checkpoints.filter((checkpoint) => {
      const own = newestAt.get(checkpoint) ?? null
      if (newest !== undefined) return own === newest
      return interaction === null || interaction.index < (own?.index ?? -1)
    })
  const scopesOf = (level: TreeLevel, above: Scope): readonly Scope[] => {
    switch (level.per) {
      case 'run':
        return [above]
      case 'checkpoint':
        return checkpointsIn(above).map((checkpoint) => ({ ...above, checkpoint }))
      case 'target': {
        const targets = above.checkpoint === null ? interactions.slice(0, -1) : targetsAt(trajectory, above.checkpoint)
        return targets.map((interaction) => ({ ...above, interaction }))
      }
      case 'step':
        return interactions.map((interaction) => ({ ...above, interaction, newest: interaction }))
      default:
        return level.per satisfies never
    }
  }
  /** The same sections behind another parent are the same tokens: kept once. */
  const contentOf = (runs: readonly SectionRun[]): Section => {
    const filled = runs.filter((run) => run.tokens.length > 0 || run.truncatedTokens > 0)
    const key = filled.map((run) => run.key).join(' ')
    const content = contents.get(key) ?? concatSections(filled)
    contents.set(key, content)
    return { tokens: content.tokens, truncatedTokens: content.truncatedTokens }
  }
  const build = (level: TreeLevel, scope: Scope, next: readonly ViewNode[] = []): ViewNode => {
    // Beside a chain of steps stands what comes before its first one.
    const within = level.below.some(({ per }) => per === 'step') ? { ...scope, newest: null } : scope
    const children = [...level.below.flatMap((lower) => buildBelow(lower, within)), ...next]
    const runs = cutRuns(level.sections.flatMap((name) => render(name, scope)))
    const [last = [], ...before] = runs.reverse()
    let node: ViewNode = { ...contentOf(last), emit: emitOf(level, scope, interactions), children }
    for (const run of before) {
      const content = contentOf(run)
      if (content.tokens.length > 0 || content.truncatedTokens > 0) node = { ...content, emit: null, children: [node] }
    }
    return node
  }
  const buildBelow = (level: TreeLevel, above: Scope): readonly ViewNode[] => {
    const scopes = scopesOf(level, above)
    if (level.per !== 'step') return scopes.map((scope) => build(level, scope))
    return scopes.reduceRight((chain: readonly ViewNode[], scope) => [build(level, scope, chain)], [])
  }
  const root = build(RECIPE_SHAPES[recipe.name].tree, { checkpoint: null, interaction: null, newest: undefined })
  if (!RECIPE_SHAPES[recipe.name].bounded) requireContext(root, request)
  return root
}

function emitOf(level: TreeLevel, scope: Scope, interactions: readonly Interaction[]): ViewEmit | null {
  const { checkpoint } = scope
  switch (level.emit) {
    case null:
      return null
    case 'h': {
      const interaction = invariant(scope.interaction, 'h is emitted per interaction')
      // The newest interaction of the last checkpoint is nobody's target.
      if (level.per === 'step' && interaction === interactions.at(-1)) return null
      return { role: 'h', interaction: interaction.index, checkpoint }
    }
    case 'q':
      invariant(checkpoint !== null, 'q is emitted per checkpoint')
      return { role: 'q', interaction: null, checkpoint }
    default:
      return level.emit satisfies never
  }
}

/** Sections up to and with each one that ends a run. */
function cutRuns(sections: readonly SectionRun[]): SectionRun[][] {
  const runs: SectionRun[][] = [[]]
  sections.forEach((section, k) => {
    runs.at(-1)?.push(section)
    if (section.cutAfter && k < sections.length - 1) runs.push([])
  })
  return runs
}

/** @throws context-too-short when a path of the tree is longer than the model's context */
function requireContext(root: ViewNode, { trajectory, recipe, contextLength }: ViewRequest): void {
  const nodes = [{ node: root, tokens: root.tokens.length }]
  let longest = 0
  for (let at = nodes.pop(); at !== undefined; at = nodes.pop()) {
    const { node, tokens } = at
    longest = Math.max(longest, tokens)
    for (const child of node.children) nodes.push({ node: child, tokens: tokens + child.tokens.length })
  }
  if (longest <= contextLength) return
  throw new AppError(
    'context-too-short',
    `recipe ${recipe.name} reads the whole history: that of ${trajectory.id} takes ${longest} tokens, the model's context is ${contextLength}: take a bounded recipe (--recipe once) or a model with a longer context`,
    { details: { tokens: longest, limit: contextLength } },
  )
}
