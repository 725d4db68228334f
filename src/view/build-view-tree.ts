/**
 * Views as a tree of token runs with shared prefixes: a view is a path from the root to a node that emits. Pure.
 */
import { AppError, invariant } from '../errors.ts'
import { endCheckpoint, type Interaction, prefixAt, type Trajectory, targetsAt } from '../trajectory/trajectory.ts'
import { fitBudgets } from './fit-budgets.ts'
import { headBlocks, interactionBlocks, recentBlocks, STATE_READOUT, stateBlocks, TARGET_READOUT } from './layout.ts'
import type { Recipe } from './recipe.ts'
import { RECIPE_SHAPES, type SectionName, type TreeLevel } from './recipe-shape.ts'
import { concatTokens, renderSection, type Section } from './section.ts'
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

interface Scope {
  readonly checkpoint: number | null
  readonly interaction: Interaction | null
}

/**
 * All views that the checkpoints need. Children stand in ascending order of interaction or checkpoint; a checkpoint
 * asked for twice is there once. Every path has at most min(budgets.view, contextLength) tokens.
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
  const render = createRenderer(request)
  const nodes = new Map<string, Pick<ViewNode, 'tokens' | 'truncatedTokens'>>()

  const targetsOf = (checkpoint: number | null): readonly Interaction[] => {
    if (checkpoint !== null) return targetsAt(trajectory, checkpoint)
    // Targets of one checkpoint contain those of every earlier one.
    const last = checkpoints.at(-1)
    return last === undefined ? [] : targetsAt(trajectory, last)
  }
  const scopesOf = (level: TreeLevel, above: Scope): readonly Scope[] => {
    switch (level.per) {
      case 'run':
        return [above]
      case 'checkpoint':
        return checkpoints.map((checkpoint) => ({ ...above, checkpoint }))
      case 'target':
        return targetsOf(above.checkpoint).map((interaction) => ({ ...above, interaction }))
      default:
        return level.per satisfies never
    }
  }
  const build = (level: TreeLevel, scope: Scope): ViewNode => {
    const sections = level.sections.map((name) => render(name, scope))
    // The same sections behind another parent are the same tokens: kept once.
    const key = sections.map((section) => section.key).join(' ')
    const content = nodes.get(key) ?? {
      tokens: concatTokens(sections.map((section) => section.tokens)),
      truncatedTokens: sections.reduce((sum, section) => sum + section.truncatedTokens, 0),
    }
    nodes.set(key, content)
    const children = level.below.flatMap((lower) => scopesOf(lower, scope).map((inner) => build(lower, inner)))
    return { ...content, emit: emitOf(level, scope), children }
  }
  return build(RECIPE_SHAPES[recipe.name], { checkpoint: null, interaction: null })
}

function emitOf(level: TreeLevel, scope: Scope): ViewEmit | null {
  if (level.emit === null) return null
  const interaction = level.emit === 'h' ? invariant(scope.interaction, 'h is emitted per target').index : null
  if (level.emit === 'q') invariant(scope.checkpoint !== null, 'q is emitted per checkpoint')
  return { role: level.emit, interaction, checkpoint: scope.checkpoint }
}

interface KeyedSection extends Section {
  /** Equal keys are equal sections of this trajectory. */
  readonly key: string
}

/** Sections of one trajectory, each rendered once. */
function createRenderer(request: ViewRequest): (name: SectionName, scope: Scope) => KeyedSection {
  const { trajectory, recipe, contextLength, encoder } = request
  const { prefixIds } = encoder.tokenizer
  const stateReadout = encoder.encode(STATE_READOUT).head
  const targetReadout = encoder.encode(TARGET_READOUT).head
  const readoutTokens = stateReadout.length + targetReadout.length
  const prefixTokens = prefixIds.length
  const budgets = fitBudgets({ budgets: recipe.budgets, contextLength, readoutTokens, prefixTokens })
  const rendered = new Map<string, KeyedSection>()

  const sectionOf = (name: SectionName, scope: Scope): Section => {
    const prefix = (): Trajectory =>
      prefixAt(trajectory, invariant(scope.checkpoint, `${name} stands under a checkpoint`))
    switch (name) {
      case 'head': {
        const head = renderSection(encoder, headBlocks(trajectory), budgets.head)
        return { ...head, tokens: concatTokens([prefixIds, head.tokens]) }
      }
      case 'recent':
        return renderSection(encoder, recentBlocks(prefix(), recipe.recentInteractions), budgets.recent)
      case 'state':
        return renderSection(encoder, stateBlocks(prefix()), budgets.state)
      case 'target':
        return renderSection(encoder, interactionBlocks(invariant(scope.interaction, 'a target')), budgets.target)
      case 'state-readout':
        return { tokens: stateReadout, truncatedTokens: 0 }
      case 'target-readout':
        return { tokens: targetReadout, truncatedTokens: 0 }
      default:
        return name satisfies never
    }
  }
  return (name, scope) => {
    const of =
      name === 'target' ? scope.interaction?.index : name === 'recent' || name === 'state' ? scope.checkpoint : ''
    const key = `${name}:${of}`
    const section = rendered.get(key) ?? { ...sectionOf(name, scope), key }
    rendered.set(key, section)
    return section
  }
}
