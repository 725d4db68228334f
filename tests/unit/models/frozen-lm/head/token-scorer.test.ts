import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeRandomCheckpoint } from '../../../../../models/frozen-lm/bench-random-checkpoint.ts'
import { openCheckpoint } from '../../../../../models/frozen-lm/checkpoint.ts'
import { EMBEDDING, LM_HEAD } from '../../../../../models/frozen-lm/decoder.ts'
import { openHead } from '../../../../../models/frozen-lm/head/head-tensors.ts'
import { loadTokenScorer } from '../../../../../models/frozen-lm/head/load-token-scorer.ts'
import { packageFile } from '../../../../../models/package-root.ts'
import { readSafetensorsHeader, readTensorF32, writeSafetensors } from '../../../../../models/safetensors.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-scorer-'))
afterAll(() => rmSync(folder, { recursive: true }))

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  vocab_size: 64,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
}

function write(name: string, options: { readonly config?: object; readonly withHead: boolean }): string {
  const directory = join(folder, name)
  writeRandomCheckpoint({
    directory,
    config: { ...CONFIG, ...options.config },
    seed: 2,
    withHead: options.withHead,
  })
  return directory
}

describe('the head of a checkpoint', () => {
  it('is the embedding matrix where config.json says nothing and the files hold no other', () => {
    const tied = openCheckpoint(write('tied', { config: { tie_word_embeddings: true }, withHead: true }))
    const silent = { ...tied, config: { ...tied.config, head: { ...tied.config.head, tied: null } } }
    for (const checkpoint of [tied, silent])
      expect(openHead(checkpoint).tensors.get(LM_HEAD)).toEqual(checkpoint.tensors.get(EMBEDDING))
  })

  it('is its own matrix where the files hold one and config.json says nothing', () => {
    const checkpoint = openCheckpoint(write('own', { withHead: true }))
    const offset = openHead(checkpoint).tensors.get(LM_HEAD)?.offset
    expect(offset).not.toBe(checkpoint.tensors.get(EMBEDDING)?.offset)
  })

  it('is refused by name where it is missing, though hidden states could be read', async () => {
    const directory = write('none', { config: { tie_word_embeddings: false }, withHead: false })
    expect(openCheckpoint(directory).tensors.size).toBeGreaterThan(0)
    await expect(loadTokenScorer({ directory })).rejects.toMatchObject({
      code: 'tensor-mismatch',
      message: expect.stringContaining('model.norm.weight'),
    })
    const normOnly = write('norm-only', { config: { tie_word_embeddings: true }, withHead: true })
    writeRandomCheckpointConfig(normOnly)
    await expect(loadTokenScorer({ directory: normOnly })).rejects.toMatchObject({
      code: 'tensor-mismatch',
      message: expect.stringContaining('lm_head.weight'),
    })
  })
})

/** config.json denies what the weights were written with. */
function writeRandomCheckpointConfig(directory: string): void {
  const path = join(directory, 'model.safetensors')
  const { tensors } = readSafetensorsHeader(path)
  const all = [...tensors].map(([name, info]) => ({ name, shape: info.shape, data: readTensorF32(path, info) }))
  writeRandomCheckpoint({ directory, config: { ...CONFIG, tie_word_embeddings: false }, seed: 2 })
  writeSafetensors(path, all)
}

describe('a token scorer', () => {
  it('refuses a sequence longer than the context, and damaged weights', async () => {
    const scorer = await loadTokenScorer({ directory: write('short', { withHead: true }) })
    const tokens = (length: number): Int32Array => Int32Array.from({ length }, (_, k) => k % 64)
    expect(await scorer.score(tokens(65), { past: null, from: 60 })).toHaveLength(5)
    await expect(scorer.score(tokens(66), { past: null, from: 60 })).rejects.toMatchObject({
      code: 'context-too-short',
    })
    await scorer.close()

    const directory = write('damaged', { withHead: true })
    const path = join(directory, 'model.safetensors')
    const { tensors } = readSafetensorsHeader(path)
    const broken = [...tensors].map(([name, info]) => {
      const data = readTensorF32(path, info)
      if (name === LM_HEAD) data[0] = Number.NaN
      return { name, shape: info.shape, data }
    })
    writeSafetensors(path, broken)
    const damaged = await loadTokenScorer({ directory })
    await expect(damaged.score(tokens(8), { past: null, from: 1 })).rejects.toMatchObject({
      code: 'output-not-finite',
    })
    await damaged.close()
  })

  it('finds a repeated word more probable with the embedded model', async () => {
    const directory = packageFile('models', 'tiny')
    const scorer = await loadTokenScorer({ directory })
    const { loadTokenizer } = await import('../../../../../models/tokenizer/hf-tokenizer.ts')
    const { encode } = loadTokenizer(directory)
    const gain = async (before: string): Promise<number> => {
      const state = await scorer.read(encode(before), null)
      const scores = await scorer.score(encode('\nopen src/zebra_quartz.py'), { past: state, from: 2 })
      scorer.dispose(state)
      return scores.reduce((sum, score) => sum + score, 0)
    }
    const named = await gain('The bug is in src/zebra_quartz.py, line 4.')
    expect(named).toBeGreaterThan((await gain('The bug is in docs/index.html, line 4.')) + 3)
    await scorer.close()
  })
})
