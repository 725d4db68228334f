import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import { loadTokenizer } from '../../../models/tokenizer/hf-tokenizer.ts'
import { buildViewTree, type ViewEmit, type ViewNode } from '../../../src/view/build-view-tree.ts'
import {
  contextOfName,
  RECIPE_NAMES,
  RECIPE_VERSION,
  type RecentWindow,
  type RecipeName,
  scaleBudgets,
} from '../../../src/view/recipe.ts'
import { createViewEncoder } from '../../../src/view/view-encoder.ts'
import { repairTrajectory } from '../../fakes/trajectories.ts'

const HINT =
  'views changed: raise RECIPE_VERSION (routers must be retrained), then `npx vitest run tests/golden/view -u`'

const tokenizer = loadTokenizer(packageFile('models', 'tiny'))
const encoder = createViewEncoder(tokenizer, { largestSection: 1280, maxCachedChars: 1_000_000 })

function nameOf(emit: ViewEmit): string {
  const interaction = emit.interaction === null ? [] : [`${emit.interaction}`]
  return [...interaction, ...(emit.checkpoint === null ? [] : [`@${emit.checkpoint}`])].join(' ')
}

/** One paragraph per node: the nodes of a view follow each other from the root down. */
function describeTree(node: ViewNode, path: string): string {
  const { emit } = node
  const name = emit === null ? (path === '' ? 'shared head' : 'shared part') : `${emit.role} ${nameOf(emit)}`
  const title = `${path}${name}`
  const ids = `ids ${node.tokens.slice(0, 6).join(' ')} ... ${node.tokens.slice(-6).join(' ')}`
  const head = `######## ${title}: ${node.tokens.length} tokens, ${node.truncatedTokens} left out; ${ids}`
  const rest = node.children.map((child) => describeTree(child, `${title} > `))
  return [`${head}${tokenizer.decode(node.tokens)}`, ...rest].join('\n')
}

const CASES: readonly { readonly file: string; readonly name: RecipeName; readonly window: RecentWindow }[] = [
  ...RECIPE_NAMES.map((name) => ({ file: name, name, window: 'fixed' as const })),
  { file: 'once-growing', name: 'once', window: 'growing' },
  { file: 'hybrid-growing', name: 'hybrid', window: 'growing' },
]

describe('views of a small trajectory', () => {
  for (const { file, name, window } of CASES) {
    it(`read as in tests/golden/view/${file}.txt under recipe version ${RECIPE_VERSION}`, async () => {
      const recentInteractions = contextOfName(name) ?? 2
      const recipe = { name, recentInteractions, window, budgets: scaleBudgets(768) }
      const checkpoints = [3, 6]
      const trajectory = repairTrajectory()
      const root = buildViewTree({ trajectory, checkpoints, recipe, contextLength: 8192, encoder })
      const facts = `Made by tests/golden/view/view-text.test.ts with the tokenizer of models/tiny. Recipe ${name}, version ${RECIPE_VERSION}, 768 tokens a view.`
      await expect(`${facts}\n${describeTree(root, '')}\n`, HINT).toMatchFileSnapshot(`${file}.txt`)
    })
  }
})
