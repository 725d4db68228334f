import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { annotateLineage } from '../../../data/annotate/lineage.ts'
import { createExtractor } from '../../../models/frozen-lm/create-extractor.ts'
import { describeRepresentation } from '../../../models/frozen-lm/describe-representation.ts'
import type { ExtractorOptions } from '../../../models/frozen-lm/extraction.ts'
import { packageFile } from '../../../models/package-root.ts'
import { DEFAULT_RECIPE, scaleBudgets } from '../../../src/view/recipe.ts'
import { type ExtractResult, extractDataset } from '../../../training/extract.ts'
import { repairTrajectory } from '../../fakes/trajectories.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-extract-prefix-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Three runs of one task: their heads are equal. */
const RUNS = ['a', 'b', 'c'].map((id) => ({ ...repairTrajectory(), id }))

async function extract(name: string, prefixCacheBytes: number): Promise<ExtractResult> {
  const options: ExtractorOptions = {
    directory: packageFile('models', 'tiny'),
    layer: 1,
    recipe: { ...DEFAULT_RECIPE, budgets: scaleBudgets(320) },
    storageDtype: 'f16',
    prefixCacheBytes,
  }
  return extractDataset({
    runs: RUNS,
    labels: RUNS.map((run) => annotateLineage(run)),
    inputs: { runsSha256: '0'.repeat(64), labelsSha256: '0'.repeat(64) },
    representation: describeRepresentation(options),
    startExtractor: () => createExtractor(options),
    out: join(folder, name),
  })
}

function hashesOf(name: string): Readonly<Record<string, string>> {
  const directory = join(folder, name)
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(directory, file)))
      .digest('hex')
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((file) => [file, hash(file)]),
  )
}

describe('extraction with a prefix cache', () => {
  it('writes the same bytes and computes fewer tokens', async () => {
    const without = await extract('without', 0)
    const within = await extract('within', 1 << 24)
    expect(hashesOf('within')).toEqual(hashesOf('without'))
    expect(without.savedTokens).toBe(0)
    expect(within.savedTokens).toBeGreaterThan(0)
    expect(within.computedTokens + within.savedTokens).toBe(without.computedTokens)
  })
})
