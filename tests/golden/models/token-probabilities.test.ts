/**
 * Log-probabilities of tokens, for every family: against the float64 oracle on random models, and against the golden
 * hidden states after the final norm of ../shared/models (PyTorch 2.15.0 + transformers 5.24.0, README.md there), from
 * which a float64 head gives the log-probabilities.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { weightFileNames } from '../../../models/frozen-lm/checkpoint.ts'
import { loadTokenScorer } from '../../../models/frozen-lm/head/load-token-scorer.ts'
import { readSafetensorsHeader, readTensorF32 } from '../../../models/safetensors.ts'
import { createRng } from '../../../src/rng.ts'
import { type NaiveModel, naiveLogProbabilities, naiveLogSoftmax } from '../../fixtures/oracle/naive-decoder.ts'
import { RANDOM_FAMILIES, writeRandomFamily } from '../../fixtures/random-families.ts'
import { itWithShared, sharedPath } from '../../shared-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-head-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** float32 against float64: logits of a few units, sums over a vocabulary of hundreds. */
const TOLERANCE_NATS = 3e-5

function modelOf(directory: string): NaiveModel {
  const files = weightFileNames(directory).map((name) => join(directory, name))
  const headers = files.map((file) => ({ file, tensors: readSafetensorsHeader(file).tensors }))
  const cache = new Map<string, Float32Array>()
  return {
    config: JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')) as NaiveModel['config'],
    weight(name) {
      const held = headers.find(({ tensors }) => tensors.has(name))
      const info = held?.tensors.get(name)
      if (held === undefined || info === undefined) return null
      const values = cache.get(name) ?? readTensorF32(held.file, info)
      cache.set(name, values)
      return values
    },
  }
}

function expectClose(what: string, actual: ArrayLike<number>, expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length)
  const worst = expected.reduce((most, value, k) => Math.max(most, Math.abs(value - (actual[k] ?? Number.NaN))), 0)
  expect(worst, `${what}: worst difference in nats`).toBeLessThan(TOLERANCE_NATS)
  expect(Math.min(...expected), `${what}: probabilities that differ from 1`).toBeLessThan(-0.5)
}

/** Features of heads that the families' random models do not have by themselves. */
const HEADS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  gemma2: { final_logit_softcapping: 0.3 },
  granite: { logits_scaling: 0.07 },
  qwen3: { tie_word_embeddings: true },
  llama: { tie_word_embeddings: false },
}

describe.each(Object.keys(RANDOM_FAMILIES))('a random model of %s', (name) => {
  it('gives the log-probabilities of the float64 oracle, in one run and behind a prefix', async () => {
    const directory = join(folder, name)
    const { layerCount } = writeRandomFamily(name, directory, HEADS[name], { withHead: true })
    const scorer = await loadTokenScorer({ directory })
    const rng = createRng(5)
    const tokens = Array.from({ length: 33 }, () => rng.nextBelow(90))
    const rows = naiveLogProbabilities(modelOf(directory), tokens, layerCount)
    const expected = tokens.slice(1).map((token, k) => rows[k]?.[token] ?? Number.NaN)
    const ids = Int32Array.from(tokens)
    expectClose(name, await scorer.score(ids, { past: null, from: 1 }), expected)
    const state = await scorer.read(ids.subarray(0, 20), null)
    const behind = await scorer.score(ids.subarray(20), { past: state, from: 1 })
    expectClose(`${name} behind 20 tokens`, behind, expected.slice(20))
    const last = await scorer.score(ids.subarray(20), { past: state, from: 12 })
    expectClose(`${name}, the last token alone`, last, expected.slice(-1))
    scorer.dispose(state)
    await scorer.close()
  })
})

/** naive-decoder.test.ts says why the hidden states of these two are golden at position 0 only. */
const ONLY_POSITION_ZERO = ['llama-bf16', 'qwen3-f16']

async function checkGolden(
  directory: string,
  sequences: readonly { readonly name: string; readonly ids: readonly number[]; readonly rows: readonly number[] }[],
): Promise<void> {
  const model = modelOf(directory)
  const path = join(directory, 'golden.safetensors')
  const { tensors } = readSafetensorsHeader(path)
  const scorer = await loadTokenScorer({ directory })
  const d = Number(model.config.hidden_size)
  for (const { name, ids, rows } of sequences) {
    const info = tensors.get(`${name}.final_norm`)
    if (info === undefined) throw new Error(`the golden file has no ${name}.final_norm`)
    const golden = readTensorF32(path, info)
    const followed = Int32Array.from([...ids, 7])
    const expected = rows.map((row, k) => {
      const normed = Float64Array.from(golden.subarray(k * d, (k + 1) * d))
      return naiveLogSoftmax(model, normed)[followed[row + 1] ?? -1] ?? Number.NaN
    })
    const scores = await scorer.score(followed, { past: null, from: 1 })
    const actual = rows.map((row) => scores[row] ?? Number.NaN)
    expectClose(`${directory} ${name}`, actual, expected)
  }
  await scorer.close()
}

const FAMILIES = [
  ...['gemma2', 'gemma3', 'granite', 'llama', 'llama-bf16', 'llama-bias', 'llama-linear-rope', 'llama-mha-tied'],
  ...['llama3-rope', 'mistral', 'mistral-window', 'olmo2', 'phi3', 'qwen2', 'qwen2-yarn', 'qwen3', 'qwen3-f16'],
  ...['qwen3-moe', 'qwen3.5', 'smollm3'],
]

describe('the golden values behind the final norm give the same log-probabilities', () => {
  for (const family of FAMILIES)
    itWithShared(family, async () => {
      const directory = sharedPath('models', 'families', family)
      const { lengths } = JSON.parse(readFileSync(join(directory, 'golden.json'), 'utf8')) as {
        readonly lengths: Readonly<Record<string, readonly number[]>>
      }
      const sequences = Object.entries(lengths).map(([length, ids]) => {
        const n = Number(length)
        const all = n < 40 ? ids.map((_, k) => k) : [0, n / 2, n - 1]
        return { name: `n${n}`, ids, rows: ONLY_POSITION_ZERO.includes(family) ? [0] : all }
      })
      await checkGolden(directory, sequences)
    })
})
