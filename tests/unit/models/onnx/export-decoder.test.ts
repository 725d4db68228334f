import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as ort from 'onnxruntime-node'
import { afterAll, describe, expect, it } from 'vitest'
import { openCheckpoint } from '../../../../models/frozen-lm/checkpoint.ts'
import { loadFrozenLm } from '../../../../models/frozen-lm/load-frozen-lm.ts'
import { embeddedModelDirectory } from '../../../../models/model-directory.ts'
import { exportDecoder } from '../../../../models/onnx/export-decoder.ts'
import { createRng } from '../../../../src/rng.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-export-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LAYER = 3
const rng = createRng(5)
const TOKENS = Int32Array.from({ length: 40 }, () => rng.nextBelow(6000))
const PREFIX = 25

function int64(values: Int32Array | readonly number[]): ort.Tensor {
  return new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length])
}

/** The state of a decoder that saw nothing: keys and values of no tokens. */
function emptyCache(session: ort.InferenceSession): Record<string, ort.Tensor> {
  const names = session.inputNames.filter((name) => name.startsWith('past_key_values'))
  return Object.fromEntries(names.map((name) => [name, new ort.Tensor('float32', new Float32Array(0), [1, 1, 0, 64])]))
}

describe('exportDecoder', () => {
  it('writes a model that onnxruntime opens from disk and that gives the same hidden states, at once and behind a cache', async () => {
    const directory = join(folder, 'model')
    const checkpoint = openCheckpoint(embeddedModelDirectory())
    exportDecoder(checkpoint, { layer: LAYER, directory })
    const lm = await loadFrozenLm({ directory: checkpoint.directory, layer: LAYER })
    const rows = [...TOKENS.keys()]
    const { hidden } = await lm.prefill(TOKENS, { past: null, rows, keepState: false })
    await lm.close()

    const session = await ort.InferenceSession.create(join(directory, 'onnx', 'model.onnx'))
    const whole = await session.run({
      input_ids: int64(TOKENS),
      attention_mask: int64(rows.map(() => 1)),
      ...emptyCache(session),
    })
    expect(whole.last_hidden_state?.dims).toEqual([1, TOKENS.length, 192])
    expectClose(whole.last_hidden_state?.data as Float32Array, hidden.data)

    const first = await session.run({
      input_ids: int64(TOKENS.slice(0, PREFIX)),
      attention_mask: int64(rows.slice(0, PREFIX).map(() => 1)),
      ...emptyCache(session),
    })
    const cache = Object.fromEntries(
      session.inputNames
        .filter((name) => name.startsWith('past_key_values'))
        .map((name) => [name, first[name.replace('past_key_values', 'present')] as ort.Tensor]),
    )
    const rest = await session.run({
      input_ids: int64(TOKENS.slice(PREFIX)),
      attention_mask: int64(rows.map(() => 1)),
      ...cache,
    })
    await session.release()
    expectClose(rest.last_hidden_state?.data as Float32Array, hidden.data.slice(PREFIX * 192))
  })

  it('leaves layers out that lie above, copies the tokenizer and says in config.json how many layers there are', () => {
    const directory = join(folder, 'shallow')
    exportDecoder(openCheckpoint(embeddedModelDirectory()), { layer: 1, directory })
    expect(JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')).num_hidden_layers).toBe(1)
    expect(existsSync(join(directory, 'tokenizer.json'))).toBe(true)
    const deep = readFileSync(join(folder, 'model', 'onnx', 'model.onnx_data')).length
    expect(readFileSync(join(directory, 'onnx', 'model.onnx_data')).length).toBeLessThan(deep)
  })
})

/** The runs are the same operators in another split and with another thread count: last bits may differ. */
function expectClose(actual: Float32Array, expected: Float32Array): void {
  const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0)
  const error = actual.reduce((max, value, i) => Math.max(max, Math.abs(value - (expected[i] ?? Number.NaN))), 0)
  expect(actual.length).toBe(expected.length)
  expect(error / largest).toBeLessThan(2e-6)
}
