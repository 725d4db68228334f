import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SUPPORTED_ARCHITECTURES } from '../../../models/frozen-lm/families/registry.ts'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import { readSafetensorsHeader, readTensorF32 } from '../../../models/safetensors.ts'
import { createRng } from '../../../src/rng.ts'
import { type NaiveModel, naiveHiddenStates } from '../../fixtures/oracle/naive-decoder.ts'
import { RANDOM_FAMILIES, writeRandomFamily } from '../../fixtures/random-families.ts'
import { itWithShared, sharedPath } from '../../shared-folder.ts'
import { expectRowsEqual } from '../compare-rows.ts'
import { expectSplitsEqual } from './hidden-states.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-naive-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Long enough to leave every window of the random models. */
const TOKENS = 45

function oracleOf(directory: string): NaiveModel {
  const path = join(directory, 'model.safetensors')
  const { tensors } = readSafetensorsHeader(path)
  const cache = new Map<string, Float32Array>()
  return {
    config: JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')) as NaiveModel['config'],
    weight(name) {
      const info = tensors.get(name)
      if (info === undefined) return null
      const values = cache.get(name) ?? readTensorF32(path, info)
      cache.set(name, values)
      return values
    },
  }
}

async function checkAgainstOracle(directory: string, layer: number): Promise<void> {
  const rng = createRng(11)
  const lm = await loadFrozenLm({ directory, layer })
  const tokens = Array.from({ length: TOKENS }, () => rng.nextBelow(lm.info.vocabularySize))
  const rows = tokens.map((_, i) => i)
  const { hidden } = await lm.prefill(Int32Array.from(tokens), { past: null, rows, keepState: false })
  const expected = naiveHiddenStates(oracleOf(directory), tokens, layer)
  const golden = Float32Array.from(expected.flatMap((row) => [...row]))
  const worst = expectRowsEqual({ what: directory, actual: hidden.data, golden, cols: lm.info.hiddenSize })
  // float32 against float64 on shallow models: a looser figure would mean a wrong formula that the bound still lets by.
  expect(worst).toBeLessThan(4e-6)
  await lm.close()
}

describe.each(Object.keys(RANDOM_FAMILIES))('a random model of %s', (name) => {
  const directory = join(folder, name)
  const { layerCount } = writeRandomFamily(name, directory)

  it('equals the float64 oracle in every row of every layer', async () => {
    for (let layer = 0; layer <= layerCount; layer++) await checkAgainstOracle(directory, layer)
  })

  it('gives the same bits behind a shared prefix as in one run, and leaves the prefix as it was', async () => {
    const lm = await loadFrozenLm({ directory, layer: layerCount })
    await expectSplitsEqual(lm)
    await lm.close()
  })
})

it('the random models cover every supported architecture', () => {
  const covered = Object.values(RANDOM_FAMILIES).map(({ architectures }) => architectures[0])
  expect(new Set(covered)).toEqual(new Set(SUPPORTED_ARCHITECTURES))
})

describe('a family of ../shared equals the float64 oracle in every row', () => {
  for (const family of ['llama-bf16', 'qwen3-f16', 'qwen3', 'llama-mha-tied'])
    itWithShared(family, () => checkAgainstOracle(sharedPath('models', 'families', family), 3))
})
