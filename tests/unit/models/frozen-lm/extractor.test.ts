import { describe, expect, it } from 'vitest'
import { assembleExtractor } from '../../../../models/frozen-lm/extractor.ts'
import { createRepresentation, type StorageDtype } from '../../../../models/frozen-lm/representation.ts'
import { interactionText } from '../../../../src/trajectory/interaction-text.ts'
import { DEFAULT_RECIPE, type RecipeName } from '../../../../src/view/recipe.ts'
import { createFakeFrozenLm, type FakeFrozenLm } from '../../../fakes/fake-frozen-lm.ts'
import { repairTrajectory } from '../../../fakes/trajectories.ts'
import { createWordTokenizer } from '../../../fakes/word-tokenizer.ts'

const tokenizer = createWordTokenizer()

function extractorOf(options: {
  readonly lm?: FakeFrozenLm
  readonly name?: RecipeName
  readonly dtype?: StorageDtype
  readonly cacheBytes?: number
  readonly prefixBytes?: number
}) {
  const lm = options.lm ?? createFakeFrozenLm()
  const { architecture, hiddenSize, layer } = lm.info
  const representation = createRepresentation({
    model: { name: 'fake', architecture, hiddenSize, filesSha256: '0'.repeat(64) },
    layer,
    storageDtype: options.dtype ?? 'f32',
    recipe: { ...DEFAULT_RECIPE, name: options.name ?? 'once', window: 'fixed' },
  })
  return assembleExtractor({
    lm,
    tokenizer,
    representation,
    vectorCacheBytes: options.cacheBytes ?? 0,
    prefixCacheBytes: options.prefixBytes ?? 0,
  })
}

describe('the extractor', () => {
  it('tells its progress view by view', async () => {
    const seen: { views: number; computedTokens: number }[] = []
    const { vectors, computedTokens } = await extractorOf({}).extract(
      { trajectory: repairTrajectory(), checkpoints: [3] },
      { onProgress: (progress) => seen.push(progress) },
    )
    expect(seen.at(-1)).toEqual({ views: vectors.length, computedTokens })
    expect(seen.map(({ views }) => views)).toEqual(seen.map(({ views }) => views).sort((a, b) => a - b))
    expect(seen.length).toBeGreaterThanOrEqual(vectors.length)
  })

  it('gives candidates in order of interaction, then states in order of checkpoint, under once', async () => {
    const { vectors } = await extractorOf({}).extract({ trajectory: repairTrajectory(), checkpoints: [5, 2, 5] })
    expect(vectors.map(({ role, interaction, checkpoint }) => [role, interaction, checkpoint])).toEqual([
      ['h', 0, null],
      ['h', 1, null],
      ['h', 2, null],
      ['h', 3, null],
      ['q', null, 2],
      ['q', null, 5],
    ])
  })

  it('gives the same candidate whichever checkpoints are asked for, under once', async () => {
    const extractor = extractorOf({})
    const trajectory = repairTrajectory()
    const late = await extractor.extract({ trajectory, checkpoints: [6] })
    const early = await extractor.extract({ trajectory, checkpoints: [3] })
    const h1 = (vectors: typeof late.vectors) => vectors.find((vector) => vector.interaction === 1)
    expect(h1(early.vectors)).toEqual(h1(late.vectors))
  })

  it('computes shared parts once', async () => {
    const lm = createFakeFrozenLm()
    const { computedTokens, vectors } = await extractorOf({ lm, name: 'shared-first' }).extract({
      trajectory: repairTrajectory(),
      checkpoints: [6],
    })
    expect(computedTokens).toBe(lm.runs.reduce((sum, run) => sum + run.length, 0))
    expect(lm.runs.length).toBe(7)
    expect(vectors.reduce((sum, vector) => sum + vector.viewTokens, 0)).toBeGreaterThan(2 * computedTokens)
  })

  it('computes only what is new when a session that it remembers has grown', async () => {
    const lm = createFakeFrozenLm()
    const remembering = extractorOf({ lm, cacheBytes: 1 << 20 })
    const trajectory = repairTrajectory()
    await remembering.extract({ trajectory, checkpoints: [5] })
    const before = lm.runs.length
    const grown = await remembering.extract({ trajectory, checkpoints: [6] })
    // The head again, the candidate of interaction 4, the state at 6.
    expect(lm.runs.length - before).toBe(3)
    const fresh = await extractorOf({}).extract({ trajectory, checkpoints: [6] })
    expect(grown.vectors).toEqual(fresh.vectors)
    expect(grown.computedTokens).toBeLessThan(fresh.computedTokens)
  })

  it('computes nothing when it is asked the same again', async () => {
    const lm = createFakeFrozenLm({ scale: 0.01 })
    const remembering = extractorOf({ lm, cacheBytes: 1 << 20, name: 'shared-first', dtype: 'f16' })
    const request = { trajectory: repairTrajectory(), checkpoints: [3, 5] }
    const first = await remembering.extract(request)
    const second = await remembering.extract(request)
    expect(second.vectors).toEqual(first.vectors)
    expect(second.computedTokens).toBe(0)
    expect(lm.liveStates).toBe(0)
  })

  it('counts the tokens of every interaction, whole', async () => {
    const trajectory = repairTrajectory()
    const { interactionTokens } = await extractorOf({}).extract({ trajectory, checkpoints: [2] })
    expect(interactionTokens.length).toBe(6)
    interactionTokens.forEach((count, k) => {
      const interaction = trajectory.interactions[k]
      const whole = interaction === undefined ? 0 : tokenizer.encode(interactionText(interaction)).length
      // The line breaks between the three parts are no part's token.
      expect(whole - count).toBeGreaterThanOrEqual(0)
      expect(whole - count).toBeLessThanOrEqual(2)
    })
  })

  it('rounds vectors to f16 when that is how they are stored', async () => {
    const lm = () => createFakeFrozenLm({ scale: 0.1 })
    const request = { trajectory: repairTrajectory(), checkpoints: [3] }
    const exact = await extractorOf({ lm: lm() }).extract(request)
    const stored = await extractorOf({ lm: lm(), dtype: 'f16' }).extract(request)
    let differing = 0
    stored.vectors.forEach((vector, k) => {
      vector.values.forEach((value, d) => {
        const full = exact.vectors[k]?.values[d] ?? Number.NaN
        expect(Math.abs(value - full)).toBeLessThanOrEqual(Math.abs(full) * 2 ** -11)
        if (value !== full) differing += 1
      })
    })
    expect(differing).toBeGreaterThan(0)
  })

  it('refuses a value beyond f16 by name and suggests f32', async () => {
    const extractor = extractorOf({ lm: createFakeFrozenLm({ scale: 1e5 }), dtype: 'f16' })
    const run = extractor.extract({ trajectory: repairTrajectory(), checkpoints: [3] })
    await expect(run).rejects.toMatchObject({ code: 'output-not-finite' })
    await expect(run).rejects.toThrow(/vector h of interaction 0: value \d+.*--storage f32/)
  })

  it('stops when aborted and closes its model', async () => {
    const lm = createFakeFrozenLm()
    const extractor = extractorOf({ lm })
    const run = extractor.extract({ trajectory: repairTrajectory(), checkpoints: [3] }, { signal: AbortSignal.abort() })
    await expect(run).rejects.toMatchObject({ code: 'interrupted' })
    expect(lm.runs).toEqual([])
    await extractor.close()
    expect(lm.closed).toBe(true)
  })
})
