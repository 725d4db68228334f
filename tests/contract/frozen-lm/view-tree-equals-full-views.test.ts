/**
 * One suite over every frozen LM: a target behind the shared part's state equals the full view in one run, bit for bit.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import type { FrozenLm } from '../../../models/frozen-lm/port.ts'
import { runViewTree } from '../../../models/frozen-lm/run-view-tree.ts'
import { packageFile } from '../../../models/package-root.ts'
import { loadTokenizer } from '../../../models/tokenizer/hf-tokenizer.ts'
import type { Tokenizer } from '../../../models/tokenizer/port.ts'
import { buildViewTree, type ViewNode } from '../../../src/view/build-view-tree.ts'
import {
  createRecipe,
  DEFAULT_BUDGETS,
  RECIPE_NAMES,
  type Recipe,
  type RecipeName,
  scaleBudgets,
} from '../../../src/view/recipe.ts'
import { candidatesPer } from '../../../src/view/recipe-shape.ts'
import { concatTokens } from '../../../src/view/section.ts'
import { createViewEncoder } from '../../../src/view/view-encoder.ts'
import { createFakeFrozenLm } from '../../fakes/fake-frozen-lm.ts'
import { repairTrajectory } from '../../fakes/trajectories.ts'
import { writeRandomFamily } from '../../fixtures/random-families.ts'
import { itWithSmolLm2, SMOLLM2 } from '../../shared-folder.ts'

const TINY = packageFile('models', 'tiny')

const folder = mkdtempSync(join(tmpdir(), 'keepready-views-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A random model of a family that can read what the embedded tokenizer writes. */
async function randomFamily(name: string): Promise<FrozenLm> {
  const directory = join(folder, name)
  const size = { vocab_size: 6144, max_position_embeddings: 8192 }
  const { layerCount } = writeRandomFamily(name, directory, size)
  return loadFrozenLm({ directory, layer: layerCount })
}

const MODELS: Readonly<Record<string, () => Promise<FrozenLm>>> = {
  'the fake': async () => createFakeFrozenLm(),
  'ONNX Runtime with models/tiny': () => loadFrozenLm({ directory: TINY, layer: 'default' }),
  'ONNX Runtime with recurrent layers': () => randomFamily('qwen3.5'),
  'ONNX Runtime with windows': () => randomFamily('gemma3'),
  'ONNX Runtime with experts': () => randomFamily('qwen3-moe'),
}

const FAMILIES = new Set(Object.keys(MODELS).filter((model) => / with (recurrent|windows|experts)/.test(model)))

const SMALL = scaleBudgets(400)
/** The others differ from one of these in numbers alone. */
const OF_EACH_SHAPE: readonly RecipeName[] = ['once', 'target-first', 'hybrid', 'full']

/** Tokens of every view that emits, in pre-order. */
function fullViews(node: ViewNode, above: readonly Int32Array[] = []): readonly Int32Array[] {
  const path = [...above, node.tokens]
  const own = node.emit === null ? [] : [concatTokens(path)]
  return [...own, ...node.children.flatMap((child) => fullViews(child, path))]
}

/** Runs the tree and each of its views whole, and compares. */
async function expectEqualViews(lm: FrozenLm, recipe: Recipe, tokenizer: Tokenizer): Promise<void> {
  const encoder = createViewEncoder(tokenizer, { largestSection: 2048, maxCachedChars: 1_000_000 })
  const { contextLength } = lm.info
  const root = buildViewTree({ trajectory: repairTrajectory(), checkpoints: [3, 6], recipe, contextLength, encoder })
  const { vectors } = await runViewTree(lm, root)
  const views = fullViews(root)
  expect(vectors.length).toBe(candidatesPer(recipe.name) === 'interaction' ? 7 : 9)
  for (const [k, tokens] of views.entries()) {
    const whole = await lm.prefill(tokens, { past: null, rows: 'last', keepState: false })
    expect(vectors[k]?.viewTokens).toBe(tokens.length)
    expect(vectors[k]?.hidden, JSON.stringify(vectors[k]?.emit)).toEqual(whole.hidden.data)
  }
}

describe.each(Object.entries(MODELS))('views behind shared parts on %s', (model, load) => {
  let lm: FrozenLm
  beforeAll(async () => {
    lm = await load()
  })
  afterAll(() => lm.close())

  for (const name of RECIPE_NAMES) {
    // The families differ in kernels, not in views: small ones leave every window and fill every block.
    if (FAMILIES.has(model) && !OF_EACH_SHAPE.includes(name)) continue
    const sizes =
      OF_EACH_SHAPE.includes(name) && !FAMILIES.has(model)
        ? { default: DEFAULT_BUDGETS, small: SMALL }
        : { small: SMALL }
    for (const [size, budgets] of Object.entries(sizes)) {
      it(`equal full views bit for bit, recipe ${name}, ${size} budgets`, () =>
        expectEqualViews(lm, { ...createRecipe(name), budgets }, loadTokenizer(TINY)))
    }
  }
})

describe('views behind shared parts on SmolLM2', () => {
  itWithSmolLm2('equal full views bit for bit, three layers deep', async () => {
    const lm = await loadFrozenLm({ directory: SMOLLM2, layer: 3 })
    try {
      for (const name of OF_EACH_SHAPE)
        await expectEqualViews(lm, createRecipe(name, { view: 400 }), loadTokenizer(SMOLLM2))
    } finally {
      await lm.close()
    }
  })
})
