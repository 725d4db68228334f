import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeRandomCheckpoint } from '../../../models/frozen-lm/bench-random-checkpoint.ts'
import { openCheckpoint } from '../../../models/frozen-lm/checkpoint.ts'
import { loadFrozenLm } from '../../../models/frozen-lm/load-frozen-lm.ts'
import { readTensorF32 } from '../../../models/safetensors.ts'
import { createRng } from '../../../src/rng.ts'
import { itWithShared, sharedPath } from '../../shared-folder.ts'
import { expectRowsEqual } from '../compare-rows.ts'
import { type NaiveDecoder, naiveHiddenStates } from './naive-decoder.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-naive-'))
afterAll(() => rmSync(folder, { recursive: true }))

function oracleOf(directory: string): NaiveDecoder {
  const { config, tensors } = openCheckpoint(directory)
  const cache = new Map<string, Float32Array>()
  return {
    ...config,
    theta: config.rope.theta,
    weight(name) {
      const info = tensors.get(name)
      const values = cache.get(name) ?? (info === undefined ? new Float32Array(0) : readTensorF32(info.file, info))
      cache.set(name, values)
      return values
    },
  }
}

async function checkAgainstOracle(directory: string, layer: number): Promise<void> {
  const rng = createRng(11)
  const lm = await loadFrozenLm({ directory, layer })
  const tokens = Array.from({ length: 70 }, () => rng.nextBelow(lm.info.vocabularySize))
  const rows = tokens.map((_, i) => i)
  const { hidden } = await lm.prefill(Int32Array.from(tokens), { past: null, rows, keepState: false })
  const expected = naiveHiddenStates(oracleOf(directory), tokens, layer)
  const golden = Float32Array.from(expected.flatMap((row) => [...row]))
  const worst = expectRowsEqual({ what: directory, actual: hidden.data, golden, cols: lm.info.hiddenSize })
  // float32 against float64 on shallow models: a looser figure would mean a wrong formula that the bound still lets by.
  expect(worst).toBeLessThan(4e-6)
  await lm.close()
}

const SHAPE = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 48,
  intermediate_size: 80,
  num_hidden_layers: 2,
  num_attention_heads: 3,
  head_dim: 32,
  num_key_value_heads: 1,
  vocab_size: 90,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-5,
  rope_theta: 5000,
}

describe('a random model equals the float64 oracle in every row', () => {
  it.each([
    ['grouped heads, F32', SHAPE],
    ['one head per key, F32', { ...SHAPE, num_key_value_heads: 3 }],
    ['half precision', { ...SHAPE, torch_dtype: 'float16' }],
    ['bfloat16', { ...SHAPE, torch_dtype: 'bfloat16' }],
    ['per-head norms', { ...SHAPE, architectures: ['Qwen3ForCausalLM'] }],
  ])('%s', async (name, config) => {
    const directory = join(folder, name)
    writeRandomCheckpoint({ directory, config, seed: 3 })
    await checkAgainstOracle(directory, 2)
    await checkAgainstOracle(directory, 1)
  })
})

describe('a family of ../shared equals the float64 oracle in every row', () => {
  for (const family of ['llama-bf16', 'qwen3-f16', 'qwen3', 'llama-mha-tied'])
    itWithShared(family, () => checkAgainstOracle(sharedPath('models', 'families', family), 3))
})
