/**
 * One random small checkpoint per architecture and config feature, against golden hidden states at every layer
 * (../shared/models/README.md: same provenance as the embedded model's). `config.v4.json`, where there is one, says the
 * same in the older spelling and must give the same bits.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import { readSafetensorsHeader, readTensorF32 } from '../../../models/safetensors.ts'
import { itWithShared, sharedPath } from '../../shared-folder.ts'
import { expectRowsEqual } from '../compare-rows.ts'

const CLAIMED = [
  'llama',
  'llama-mha-tied',
  'llama3-rope',
  'llama-linear-rope',
  'llama-bias',
  'mistral-window',
  'qwen2',
  'qwen2-yarn',
  'qwen3',
]
/**
 * The golden values of the two half-precision families were made with rotary frequencies that had been rounded to the
 * storage dtype with the weights: with the same rounding we match all rows to 1.4e-6, without it the error grows with
 * the position (2e-2 at 149). Loading such a checkpoint in float32 does not round them, and neither do we, so only
 * position 0, which is not rotated, is compared here; naive-decoder.test.ts compares every row with float64.
 */
const HALF_PRECISION = ['llama-bf16', 'qwen3-f16']
const UNSUPPORTED = ['qwen3-moe', 'qwen3.5', 'smollm3', 'granite', 'olmo2', 'phi3', 'gemma2', 'gemma3']

interface FamilyGolden {
  readonly lengths: Readonly<Record<string, readonly number[]>>
}

/** @returns hidden values of every layer and length, by golden name */
async function checkFamily(
  directory: string,
  options: { readonly goldenDirectory: string; readonly onlyPositionZero?: boolean },
): Promise<ReadonlyMap<string, Float32Array>> {
  const { goldenDirectory, onlyPositionZero = false } = options
  const { lengths } = JSON.parse(readFileSync(join(goldenDirectory, 'golden.json'), 'utf8')) as FamilyGolden
  const path = join(goldenDirectory, 'golden.safetensors')
  const { tensors } = readSafetensorsHeader(path)
  const results = new Map<string, Float32Array>()
  for (const layer of [0, 1, 2, 3]) {
    const lm = await loadFrozenLm({ directory, layer })
    for (const [length, ids] of Object.entries(lengths)) {
      const n = Number(length)
      const rows = n < 40 ? ids.map((_, i) => i) : [0, n / 2, n - 1]
      const { hidden } = await lm.prefill(Int32Array.from(ids), { past: null, rows, keepState: false })
      const name = `n${n}.layer${layer}`
      const info = tensors.get(name)
      if (info === undefined) throw new Error(`the golden file has no ${name}`)
      const golden = readTensorF32(path, info)
      const cols = lm.info.hiddenSize
      const compared = onlyPositionZero ? cols : golden.length
      expectRowsEqual({
        what: `${directory} ${name}`,
        actual: hidden.data.subarray(0, compared),
        golden: golden.subarray(0, compared),
        cols,
      })
      results.set(name, hidden.data)
    }
    await lm.close()
  }
  return results
}

describe('model families', () => {
  for (const family of CLAIMED) {
    itWithShared(
      `${family} gives the golden hidden states at every layer, in both spellings of its config`,
      async () => {
        const directory = sharedPath('models', 'families', family)
        const results = await checkFamily(directory, { goldenDirectory: directory })
        expect(results.size).toBe(16)
        if (!existsSync(join(directory, 'config.v4.json'))) return
        const copy = mkdtempSync(join(tmpdir(), 'keepready-family-'))
        for (const name of readdirSync(directory).filter((file) => file.startsWith('model')))
          copyFileSync(join(directory, name), join(copy, name))
        copyFileSync(join(directory, 'config.v4.json'), join(copy, 'config.json'))
        expect(await checkFamily(copy, { goldenDirectory: directory })).toEqual(results)
        rmSync(copy, { recursive: true, force: true })
      },
    )
  }

  for (const family of HALF_PRECISION) {
    itWithShared(`${family} gives the golden hidden states at position 0 of every layer`, async () => {
      const directory = sharedPath('models', 'families', family)
      expect((await checkFamily(directory, { goldenDirectory: directory, onlyPositionZero: true })).size).toBe(16)
    })
  }

  itWithShared('mistral with heads of 24 is refused: the attention kernel cannot compute it', async () => {
    const lm = loadFrozenLm({ directory: sharedPath('models', 'families', 'mistral'), layer: 1 })
    await expect(lm).rejects.toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining('head is 24') }),
    )
  })

  for (const family of UNSUPPORTED) {
    itWithShared(`${family} is refused by name, with the supported list`, async () => {
      const lm = loadFrozenLm({ directory: sharedPath('models', 'families', family), layer: 1 })
      await expect(lm).rejects.toThrow(
        expect.objectContaining({
          code: 'architecture-unsupported',
          message: expect.stringMatching(/\w+ForCausalLM is not supported; supported are LlamaForCausalLM, /),
        }),
      )
    })
  }
})
