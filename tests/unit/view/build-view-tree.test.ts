import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { buildViewTree, type ViewNode } from '../../../src/view/build-view-tree.ts'
import { DEFAULT_BUDGETS, DEFAULT_RECIPE, type Recipe, type RecipeName } from '../../../src/view/recipe.ts'
import { createViewEncoder } from '../../../src/view/view-encoder.ts'
import { repairTrajectory, shellInteraction, trajectoryOf, turnOf } from '../../fakes/trajectories.ts'
import { createWordTokenizer } from '../../fakes/word-tokenizer.ts'

const tokenizer = createWordTokenizer([0])
const encoder = createViewEncoder(tokenizer, { largestSection: 2048, maxCachedChars: 1_000_000 })
const recipeOf = (name: RecipeName, parts: Partial<Recipe> = {}): Recipe => ({
  ...DEFAULT_RECIPE,
  name,
  window: 'fixed',
  ...parts,
})

function treeOf(trajectory: Trajectory, checkpoints: readonly number[], recipe: Recipe): ViewNode {
  return buildViewTree({ trajectory, checkpoints, recipe, contextLength: 8192, encoder })
}

/** Texts of the views by what they emit, e.g. `h 2 @4`, `q @4`. */
function viewsOf(root: ViewNode): Map<string, string> {
  const views = new Map<string, string>()
  const walk = (node: ViewNode, above: string): void => {
    const text = above + tokenizer.decode(node.tokens)
    const { emit } = node
    if (emit !== null)
      views.set(
        [emit.role, ...(emit.interaction === null ? [] : [emit.interaction])].join(' ') +
          (emit.checkpoint === null ? '' : ` @${emit.checkpoint}`),
        text,
      )
    for (const child of node.children) walk(child, text)
  }
  walk(root, '')
  return views
}

describe('the view tree', () => {
  it('has one candidate per needed interaction and one state per checkpoint under recipe once', () => {
    const views = viewsOf(treeOf(repairTrajectory(), [4, 2], recipeOf('once')))
    expect([...views.keys()]).toEqual(['h 0', 'h 1', 'h 2', 'q @2', 'q @4'])
  })

  it('has one candidate per target and checkpoint behind the shared part under shared-first', () => {
    const views = viewsOf(treeOf(repairTrajectory(), [2, 4, 4], recipeOf('shared-first')))
    expect([...views.keys()]).toEqual(['q @2', 'h 0 @2', 'q @4', 'h 0 @4', 'h 1 @4', 'h 2 @4'])
    expect(views.get('h 1 @4')?.startsWith(views.get('q @4') ?? '-')).toBe(true)
  })

  it('starts every view with the tokens that the tokenizer adds', () => {
    for (const text of viewsOf(treeOf(repairTrajectory(), [3], recipeOf('once'))).values())
      expect(text.startsWith('<bos>\n[system]\n')).toBe(true)
  })

  it('holds equal tokens for an interaction wherever it is a target', () => {
    const root = treeOf(repairTrajectory(), [3, 6], recipeOf('shared-first'))
    const [first, second] = root.children.map((checkpoint) => checkpoint.children[1]?.tokens)
    expect(first?.length).toBeGreaterThan(10)
    expect(first).toBe(second)
  })

  it('puts the K_ctx interactions before the newest and the turns among them into the recent section', () => {
    const trajectory = trajectoryOf({
      task: 'Go.',
      interactions: [0, 5, 6, 7, 8].map((i) => shellInteraction(i, `step ${i}`, `done ${i}`)),
      turns: [
        turnOf(5, 'summary', 'steps 1 to 4 went well'),
        turnOf(7, 'user', 'hurry'),
        turnOf(9, 'user', 'and now?'),
      ],
    })
    const recipe = recipeOf('once', { recentInteractions: 3 })
    const at9 = viewsOf(treeOf(trajectory, [9], recipe)).get('q @9') ?? ''
    const order = ['[task]', 'steps 1 to 4', 'done 5', 'done 6', 'hurry', 'done 7', 'done 8', 'and now?', '[next]']
    const places = order.map((text) => at9.indexOf(text))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(at9).not.toContain('done 0')

    const at8 = viewsOf(treeOf(trajectory, [8], recipe)).get('q @8') ?? ''
    expect(at8).toContain('done 7')
    expect(at8).not.toContain('done 8')
    expect(at8).not.toContain('and now?')
  })

  it('leaves recent history out when K_ctx is 0', () => {
    const view = viewsOf(treeOf(repairTrajectory(), [6], recipeOf('once', { recentInteractions: 0 }))).get('q @6') ?? ''
    expect(view).toContain('60 passed')
    expect(view).not.toContain('Two calls at once')
  })

  it('gives a state but no candidates before there are two interactions', () => {
    expect([...viewsOf(treeOf(repairTrajectory(), [1], recipeOf('once'))).keys()]).toEqual(['q @1'])
    expect([...viewsOf(treeOf(repairTrajectory(), [0], recipeOf('shared-first'))).keys()]).toEqual(['q @0'])
  })

  it('counts what truncation left out, node by node', () => {
    const budgets = { ...DEFAULT_BUDGETS, target: 60 }
    const long = 'alpha beta gamma delta '.repeat(100)
    const trajectory = trajectoryOf({ interactions: [0, 1].map((i) => shellInteraction(i, 'run', long)) })
    const root = treeOf(trajectory, [2], recipeOf('once', { budgets }))
    const target = root.children[0]
    const text = tokenizer.decode(target?.tokens ?? [])
    const gone = Number(/(\d+) tokens left out/.exec(text)?.[1])
    expect(target?.truncatedTokens).toBe(gone)
    const kept = tokenizer.encode(text.split('Observation:\n')[1] ?? '').length
    const marker = tokenizer.encode(`\n[... ${gone} tokens left out ...]\n`).length
    const readout = tokenizer.encode(text.slice(text.indexOf('\n[later]'))).length
    expect(kept - marker - readout + gone).toBe(800)
    expect(root.children[1]?.truncatedTokens).toBe(0)
  })

  it('drops blocks from the front when a budget does not even hold the labels', () => {
    const budgets = { ...DEFAULT_BUDGETS, head: 8 }
    const views = viewsOf(treeOf(repairTrajectory(), [2], recipeOf('once', { budgets })))
    expect(views.get('h 0')?.startsWith('<bos>\n[task]\n')).toBe(true)
  })

  it('refuses a checkpoint outside the trajectory', () => {
    for (const checkpoint of [-1, 7, 1.5]) {
      const build = () => treeOf(repairTrajectory(), [checkpoint], recipeOf('once'))
      expect(build).toThrow(AppError)
      expect(build).toThrow(`checkpoint ${checkpoint} of run-1 is outside 0 .. 6`)
    }
  })
})
