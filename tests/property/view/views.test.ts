import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { loadTokenizer } from '../../../models/tokenizer/hf-tokenizer.ts'
import type { Tokenizer } from '../../../models/tokenizer/port.ts'
import { AppError } from '../../../src/errors.ts'
import {
  endCheckpoint,
  type Interaction,
  prefixAt,
  type Trajectory,
  type Turn,
} from '../../../src/trajectory/trajectory.ts'
import { buildViewTree, type ViewNode } from '../../../src/view/build-view-tree.ts'
import { contextOfName, RECENT_WINDOWS, RECIPE_NAMES, type Recipe } from '../../../src/view/recipe.ts'
import { candidatesPer } from '../../../src/view/recipe-shape.ts'
import { createViewEncoder } from '../../../src/view/view-encoder.ts'
import { interactionOf, trajectoryOf, turnOf } from '../../fakes/trajectories.ts'
import { createWordTokenizer } from '../../fakes/word-tokenizer.ts'

const text = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .tuple(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.nat(120))
    .map(([piece, times]) => `${piece} `.repeat(times)),
  fc.constantFrom('\ud83d', '<|endoftext|>', '1'.repeat(400), ' '.repeat(5000), '\u{1f7e1}'.repeat(300)),
)

const interaction: fc.Arbitrary<Partial<Interaction>> = fc.record({
  actor: fc.option(text, { nil: null }),
  reasoning: text,
  text,
  toolCalls: fc.array(fc.record({ id: fc.constant('c'), name: text, arguments: text }), { maxLength: 2 }),
  observations: fc.array(fc.record({ callId: fc.constant('c'), content: text, isError: fc.boolean() }), {
    maxLength: 2,
  }),
})

/** Canonical indices with gaps, turns anywhere. */
const trajectory: fc.Arbitrary<Trajectory> = fc
  .record({
    system: text,
    task: text,
    interactions: fc.array(fc.tuple(interaction, fc.nat(2)), { maxLength: 7 }),
    turns: fc.array(
      fc.tuple(fc.nat(20), fc.constantFrom('user', 'context', 'summary') as fc.Arbitrary<Turn['kind']>, text),
      { maxLength: 5 },
    ),
  })
  .map(({ system, task, interactions, turns }) => {
    let next = 0
    const placed = interactions.map(([parts, gap]) => {
      const index = next + gap
      next = index + 1
      return interactionOf(index, parts)
    })
    const placedTurns = turns.map(([at, kind, words]) => turnOf(at % (next + 1), kind, words))
    return trajectoryOf({ system, task, interactions: placed, turns: placedTurns.sort((a, b) => a.before - b.before) })
  })

const budget = fc.integer({ min: 1, max: 400 })
const recipe: fc.Arbitrary<Recipe> = fc
  .record({
    name: fc.constantFrom(...RECIPE_NAMES),
    recentInteractions: fc.nat(5),
    window: fc.constantFrom(...RECENT_WINDOWS),
    budgets: fc.record({
      view: budget,
      head: budget,
      recent: budget,
      state: budget,
      target: budget,
      readout: fc.constantFrom(64, 48),
    }),
  })
  .map((choice) => ({
    ...choice,
    recentInteractions: contextOfName(choice.name) ?? choice.recentInteractions,
  }))

/** Every path's length, its emits included. */
function pathLengths(node: ViewNode, above = 0): readonly number[] {
  const length = above + node.tokens.length
  return [length, ...node.children.flatMap((child) => pathLengths(child, length))]
}

const TOKENIZERS: Readonly<Record<string, Tokenizer>> = {
  'a word tokenizer with BOS': createWordTokenizer([0]),
  'the embedded model': loadTokenizer(packageFile('models', 'tiny')),
}

/** Tokens of every view by what it emits. */
function viewsOf(node: ViewNode, above: readonly number[] = []): readonly (readonly [string, string])[] {
  const path = [...above, ...node.tokens]
  const own = node.emit === null ? [] : ([[JSON.stringify(node.emit), path.join(' ')]] as const)
  return [...own, ...node.children.flatMap((child) => viewsOf(child, path))]
}

describe('a view', () => {
  const encoder = createViewEncoder(createWordTokenizer(), { largestSection: 400, maxCachedChars: 1_000_000 })

  test.prop([trajectory, recipe, fc.nat(20)])('never depends on what came after its checkpoint', (run, choice, at) => {
    const checkpoint = at % (endCheckpoint(run) + 1)
    const budgets = { ...choice.budgets, view: choice.budgets.view + 64 }
    const of = (whole: Trajectory) =>
      viewsOf(
        buildViewTree({
          trajectory: whole,
          checkpoints: [checkpoint],
          recipe: { ...choice, budgets },
          contextLength: 8192,
          encoder,
        }),
      )
    const past = prefixAt(run, checkpoint)
    // A gap in the canonical indices may stand right before the checkpoint: its end is then earlier.
    fc.pre(endCheckpoint(past) === checkpoint)
    expect(of(past)).toEqual(of(run))
  })
})

describe('a view tree', () => {
  const tokenizer = createWordTokenizer([0])
  const encoderOf = () => createViewEncoder(tokenizer, { largestSection: 8192, maxCachedChars: 1_000_000 })

  test.prop([trajectory, recipe], { numRuns: 150 })(
    'is the same whenever it is built, and holds each vector once, with the same view whichever checkpoints are asked for',
    (run, choice) => {
      const end = endCheckpoint(run)
      const budgets = { ...choice.budgets, view: choice.budgets.view + 64 }
      const of = (checkpoints: readonly number[]) =>
        viewsOf(
          buildViewTree({
            trajectory: run,
            checkpoints,
            recipe: { ...choice, budgets },
            contextLength: 1 << 20,
            encoder: encoderOf(),
          }),
        )
      const all = of(Array.from({ length: end + 1 }, (_, c) => c))
      expect(of(Array.from({ length: end + 1 }, (_, c) => c))).toEqual(all)
      const views = new Map(all)
      expect(views.size).toBe(all.length)
      const last = of([end])
      for (const [emit, tokens] of last) expect(views.get(emit)).toBe(tokens)
      const targets = Math.max(0, run.interactions.length - 1)
      expect(last.length).toBe(targets + 1)
      const candidates = all.filter(([emit]) => emit.includes('"h"'))
      if (candidatesPer(choice.name) === 'interaction') expect(candidates.length).toBe(targets)
    },
  )
})

describe('the view budget', () => {
  for (const [name, tokenizer] of Object.entries(TOKENIZERS)) {
    const encoder = createViewEncoder(tokenizer, { largestSection: 400, maxCachedChars: 1_000_000 })
    test.prop([trajectory, recipe, fc.integer({ min: 20, max: 500 })], { numRuns: 150 })(
      `is never passed with the tokenizer of ${name}`,
      (run, choice, contextLength) => {
        const last = run.interactions.at(-1)?.index ?? -1
        const checkpoints = Array.from({ length: last + 2 }, (_, c) => c)
        const limit = choice.name === 'full' ? contextLength : Math.min(choice.budgets.view, contextLength)
        let root: ViewNode
        try {
          root = buildViewTree({ trajectory: run, checkpoints, recipe: choice, contextLength, encoder })
        } catch (error) {
          // Refused by name, and only where readout lines and 16 more tokens do not fit, or the whole history.
          expect(error instanceof AppError && error.code).toBe('context-too-short')
          if (choice.name !== 'full') expect(limit).toBeLessThan(64)
          return
        }
        for (const length of pathLengths(root)) expect(length).toBeLessThanOrEqual(limit)
      },
    )
  }
})
