import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { buildViewTree, type ViewNode } from '../../../src/view/build-view-tree.ts'
import { estimateViewTokens } from '../../../src/view/estimate-view-tokens.ts'
import { createRecipe, RECIPE_NAMES, type Recipe } from '../../../src/view/recipe.ts'
import { createSimilarityIndex } from '../../../src/view/similar-interactions.ts'
import { createViewEncoder } from '../../../src/view/view-encoder.ts'
import { repairTrajectory, shellInteraction, trajectoryOf, turnOf } from '../../fakes/trajectories.ts'
import { createWordTokenizer } from '../../fakes/word-tokenizer.ts'

const tokenizer = createWordTokenizer([0])
const encoder = createViewEncoder(tokenizer, { largestSection: 2048, maxCachedChars: 1_000_000 })

function viewsOf(
  trajectory: Trajectory,
  recipe: Recipe,
  options: { readonly at: readonly number[]; readonly contextLength?: number },
): ReadonlyMap<string, string> {
  const views = new Map<string, string>()
  const walk = (node: ViewNode, above: string): void => {
    const text = above + tokenizer.decode(node.tokens)
    const { emit } = node
    if (emit !== null)
      views.set(
        [emit.role, emit.interaction ?? '', emit.checkpoint === null ? '' : `@${emit.checkpoint}`].join(' '),
        text,
      )
    for (const child of node.children) walk(child, text)
  }
  const { at, contextLength = 8192 } = options
  walk(buildViewTree({ trajectory, checkpoints: at, recipe, contextLength, encoder }), '')
  return views
}

/** Interactions 1 and 4 and 6 speak of invoices, the others each of something else. */
const INVOICES = trajectoryOf({
  task: 'Work.',
  interactions: [
    shellInteraction(0, 'ls', 'garden tools and seeds in spring'),
    shellInteraction(1, 'open', 'the invoice of march names the wrong customer address'),
    shellInteraction(2, 'cat', 'weather report with rain over the northern coast'),
    shellInteraction(3, 'cat', 'seven trains were late on monday morning'),
    shellInteraction(4, 'open', 'the invoice of april names the wrong customer address again'),
    shellInteraction(5, 'cat', 'a recipe for bread with walnuts'),
    shellInteraction(6, 'open', 'the invoice of may names the wrong customer address too'),
    shellInteraction(7, 'cat', 'nothing of the kind'),
  ],
})

describe('recipes', () => {
  it('read the most similar other interactions before the newest under same-prefix', () => {
    const view = viewsOf(INVOICES, { ...createRecipe('same-prefix'), recentInteractions: 2 }, { at: [8] }).get('h 4 @8')
    for (const text of ['march', 'april', 'may']) expect(view).toContain(text)
    for (const text of ['garden', 'weather', 'trains', 'walnuts']) expect(view).not.toContain(text)
    // Context in order of time, then the target.
    expect(view?.indexOf('march')).toBeLessThan(view?.indexOf('may') ?? -1)
    expect(view?.indexOf('may')).toBeLessThan(view?.indexOf('april') ?? -1)
  })

  it('read half recent and half similar interactions under hybrid, none twice', () => {
    const views = viewsOf(INVOICES, { ...createRecipe('hybrid'), recentInteractions: 4 }, { at: [8] })
    const view = views.get('h 4 @8') ?? ''
    for (const text of ['walnuts', 'may', 'march']) expect(view).toContain(text)
    expect(view.split('invoice of may').length).toBe(2)
    expect(views.get('q  @8')).toContain('walnuts')
    expect(views.get('q  @8')).not.toContain('march')
  })

  it('hold as many recent interactions as their name says', () => {
    for (const [name, first] of [
      ['recent0', 7],
      ['recent1', 6],
      ['recent4', 3],
      ['recent8', 0],
    ] as const) {
      const view = viewsOf(INVOICES, createRecipe(name), { at: [8] }).get('q  @8') ?? ''
      expect(view.split('[interaction]').length - 1, name).toBe(8 - first)
    }
  })

  it('refuse another number of recent interactions than their name says', () => {
    const recipe = { ...createRecipe('recent2'), recentInteractions: 3 }
    expect(() => viewsOf(INVOICES, recipe, { at: [8] })).toThrow(/recent2 has 2 recent interactions by its name, not 3/)
  })

  it('place the target before history and state under target-first', () => {
    const view = viewsOf(INVOICES, createRecipe('target-first'), { at: [8] }).get('h 1 @8') ?? ''
    const places = ['march', 'april', 'may', 'nothing of the kind', '[later] Of the first interaction'].map((text) =>
      view.indexOf(text),
    )
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  it('read everything once under full, uncut, with a candidate at the end of each interaction', () => {
    const run = { ...repairTrajectory(), turns: [turnOf(3, 'user', 'Mind the currency.'), turnOf(6, 'user', 'Now?')] }
    const views = viewsOf(run, createRecipe('full'), { at: [2, 6] })
    expect([...views.keys()]).toEqual(['h 0 ', 'h 1 ', 'q  @2', 'h 2 ', 'h 3 ', 'h 4 ', 'q  @6'])
    const end = views.get('q  @6') ?? ''
    expect(end).not.toContain('left out')
    for (const [name, text] of views) if (name.startsWith('h')) expect(end.startsWith(text)).toBe(true)
    expect(views.get('h 1 ')?.endsWith('expected 2 to equal 59')).toBe(true)
    expect(views.get('h 3 ')).toContain('Mind the currency.')
    expect(views.get('q  @2')?.split('\n[next]')[0]).toBe(views.get('h 1 '))
  })

  it('say by name that a model is too short for the whole history', () => {
    const build = () => viewsOf(repairTrajectory(), createRecipe('full'), { at: [6], contextLength: 700 })
    expect(build).toThrow(AppError)
    expect(build).toThrow(
      /recipe full reads the whole history: that of run-1 takes \d+ tokens.* context is 700: take a/,
    )
    const long = trajectoryOf({ interactions: [0, 1].map((i) => shellInteraction(i, 'run', 'word '.repeat(40_000))) })
    expect(() => viewsOf(long, createRecipe('full'), { at: [2] })).toThrow(/one text alone is longer than the model's/)
  })

  it('have no growing window where they have no recent interactions', () => {
    for (const name of ['full', 'same-prefix', 'recent0'] as const)
      expect(() => createRecipe(name, { window: 'growing' })).toThrow(
        /no window of recent interactions that could grow/,
      )
    expect(createRecipe('once', { window: 'growing' }).window).toBe('growing')
  })

  it('are estimated at half of the tokens they take or more, and at no more than whole views of all targets', () => {
    for (const name of RECIPE_NAMES) {
      const root = buildViewTree({
        trajectory: INVOICES,
        checkpoints: [8],
        recipe: createRecipe(name),
        contextLength: 8192,
        encoder,
      })
      const sum = (node: ViewNode): number =>
        node.children.reduce((total, child) => total + sum(child), node.tokens.length)
      const estimate = estimateViewTokens(INVOICES, 8, createRecipe(name))
      expect(estimate, name).toBeGreaterThan(0.5 * sum(root))
      expect(estimate, name).toBeLessThan(8 * 5120)
    }
  })
})

describe('the growing window', () => {
  const run = trajectoryOf({
    interactions: Array.from({ length: 14 }, (_, i) => shellInteraction(i, `step${i}`, 'ok')),
  })

  it('grows from K to 2 K interactions before the newest and falls back to K', () => {
    const recipe = { ...createRecipe('once', { window: 'growing' }), recentInteractions: 3 }
    const at = Array.from({ length: 14 }, (_, c) => c + 1)
    const views = viewsOf(run, recipe, { at })
    const sizes = at.map((c) => (views.get(`q  @${c}`)?.split('[interaction]').length ?? 0) - 2)
    expect(sizes).toEqual([0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5])
  })

  it('cuts each interaction by its own share alone, so that a longer window starts with the same runs', () => {
    const long = trajectoryOf({
      interactions: Array.from({ length: 9 }, (_, i) => shellInteraction(i, `step${i}`, `line ${i} of it `.repeat(90))),
      turns: [turnOf(3, 'user', 'go on '.repeat(200))],
    })
    const runsAt = (checkpoint: number): readonly string[] => {
      const recipe = createRecipe('once', { view: 1024, window: 'growing' })
      const root = buildViewTree({ trajectory: long, checkpoints: [checkpoint], recipe, contextLength: 8192, encoder })
      const runs: string[] = []
      for (let node = root.children.at(-1); node !== undefined; node = node.children.at(-1))
        runs.push(node.tokens.join(' '))
      return runs
    }
    for (let c = 2; c < 9; c++) {
      const [now, next] = [runsAt(c), runsAt(c + 1)]
      // The newest interaction and the readout line are the last two runs.
      const shared = now.slice(0, -2)
      expect(next.slice(0, shared.length)).toEqual(shared)
    }
  })
})

describe('the similarity of interactions', () => {
  it('leaves the target out and prefers the earlier of equals', () => {
    const index = createSimilarityIndex(encoder)
    const run = ['same words here', 'other things there', 'same words here', 'same words here'].map((text, i) =>
      shellInteraction(i, 'run', text),
    )
    const target = run[3]
    if (target === undefined) throw new Error('the run has four interactions')
    expect(index.mostSimilar(target, run, 1).map((item) => item.index)).toEqual([0])
    expect(index.mostSimilar(target, run, 2).map((item) => item.index)).toEqual([0, 2])
    expect(index.mostSimilar(target, run, 9).map((item) => item.index)).toEqual([0, 1, 2])
    expect(index.mostSimilar(target, run, 0)).toEqual([])
  })
})
