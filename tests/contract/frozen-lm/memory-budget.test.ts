/**
 * What the plan says against what the kernel counts (VmHWM of the model's process, started from dist). An upper bound is
 * asked for: the peak lies between 40 % and 100 % of it. No times are measured. Linux only: elsewhere nobody counts.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Extraction, ExtractorOptions } from '../../../models/frozen-lm/extraction.ts'
import { planExtractorMemory } from '../../../models/frozen-lm/plan-extractor-memory.ts'
import { startProcessExtractor } from '../../../models/frozen-lm/process-extractor.ts'
import { packageFile } from '../../../models/package-root.ts'
import { DEFAULT_RECIPE, scaleBudgets } from '../../../src/view/recipe.ts'
import { shellInteraction, trajectoryOf } from '../../fakes/trajectories.ts'
import { itWithSmolLm2, SMOLLM2 } from '../../shared-folder.ts'

const LOWEST_SHARE = 0.4
const onLinux = process.platform === 'linux' ? it : it.skip

const TINY: ExtractorOptions = {
  directory: packageFile('models', 'tiny'),
  layer: 'default',
  recipe: { ...DEFAULT_RECIPE, name: 'shared-first', window: 'fixed', budgets: scaleBudgets(2560) },
  storageDtype: 'f16',
}

/** Views as long as the budget allows: every section overflows. */
const TRAJECTORY = trajectoryOf({
  task: 'Read the log.',
  interactions: Array.from({ length: 9 }, (_, i) =>
    shellInteraction(i, `step ${i}`, Array.from({ length: 900 }, (_, k) => `line ${i * 900 + k} of it`).join('\n')),
  ),
})

async function peakOf(
  options: ExtractorOptions,
): Promise<{ readonly peakBytes: number; readonly extraction: Extraction }> {
  const extractor = await startProcessExtractor(options)
  try {
    const extraction = await extractor.extract({ trajectory: TRAJECTORY, checkpoints: [8] })
    const status = readFileSync(`/proc/${extractor.pid}/status`, 'utf8')
    return { peakBytes: Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024, extraction }
  } finally {
    await extractor.close()
  }
}

async function expectWithinPlan(options: ExtractorOptions): Promise<Extraction> {
  const plan = planExtractorMemory(options)
  const { peakBytes, extraction } = await peakOf(options)
  const longest = Math.max(...extraction.vectors.map(({ viewTokens }) => viewTokens))
  expect(longest).toBeGreaterThan(0.8 * options.recipe.budgets.view)
  const shown = `${Math.round(peakBytes / 1e6)} MB measured, ${Math.round(plan.totalBytes / 1e6)} MB planned`
  expect(peakBytes, shown).toBeLessThanOrEqual(plan.totalBytes)
  expect(peakBytes, shown).toBeGreaterThan(LOWEST_SHARE * plan.totalBytes)
  return extraction
}

/** The least budget that is not refused, in MB. */
function leastMb(options: ExtractorOptions): number {
  try {
    planExtractorMemory({ ...options, execution: { ...options.execution, memoryBytes: 1 } })
  } catch (thrown) {
    const { details } = thrown as { readonly details: { readonly neededMb: number } }
    return details.neededMb
  }
  throw new Error('1 byte was enough')
}

describe('the memory of an extraction', () => {
  onLinux('of the embedded model lies within the plan', async () => {
    await expectWithinPlan(TINY)
  })

  onLinux('stays within the least budget, with the same vectors', async () => {
    const memoryBytes = leastMb(TINY) * 1e6
    const bounded = { ...TINY, execution: { memoryBytes } }
    expect(planExtractorMemory(bounded).runTokens).toBeLessThan(200)
    const { peakBytes, extraction } = await peakOf(bounded)
    expect(peakBytes).toBeLessThanOrEqual(memoryBytes)
    const whole = await peakOf(TINY)
    expect(extraction.vectors).toEqual(whole.extraction.vectors)
  })

  it.each([
    ['one MB less than the least', {}],
    ['less than it takes with packed weights, naming what would be less', { weights: 'resident' as const }],
  ])('is refused before the model is loaded: %s', async (_, execution) => {
    const memoryBytes = (leastMb({ ...TINY, execution }) - 1) * 1e6
    const started = startProcessExtractor({ ...TINY, execution: { ...execution, memoryBytes } })
    await expect(started).rejects.toMatchObject({
      code: 'memory-budget-too-small',
      message: 'weights' in execution ? /--weights mmap/ : /need \d+ MB \(program .*--memory-mb allows \d+/,
    })
  })

  it('is not bounded by cutting runs where that would change the vectors', () => {
    const execution = { quantize: 'int8' as const }
    const whole = planExtractorMemory({ ...TINY, execution }).totalBytes
    expect(() => planExtractorMemory({ ...TINY, execution: { ...execution, memoryBytes: whole - 1e6 } })).toThrow(
      expect.objectContaining({ code: 'memory-budget-too-small' }),
    )
  })

  for (const weights of ['mmap', 'resident'] as const)
    itWithSmolLm2(`of SmolLM2 with ${weights} weights lies within the plan`, async () => {
      await expectWithinPlan({ ...TINY, directory: SMOLLM2, layer: 3, execution: { weights } })
    })

  itWithSmolLm2('of SmolLM2 with mapped weights is private only for what it computes', async () => {
    const options: ExtractorOptions = { ...TINY, directory: SMOLLM2, layer: 3 }
    const mapped = planExtractorMemory({ ...options, execution: { weights: 'mmap' } })
    const resident = planExtractorMemory({ ...options, execution: { weights: 'resident' } })
    expect(mapped.copiedBytes).toBeLessThan(resident.copiedBytes / 4)
    expect(mapped.mappedBytes).toBeGreaterThan(resident.mappedBytes)
  })
})
