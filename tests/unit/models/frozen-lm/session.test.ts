import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeRandomCheckpoint } from '../../../../models/frozen-lm/bench-random-checkpoint.ts'
import { defaultLayer, loadFrozenLm } from '../../../../models/frozen-lm/load-frozen-lm.ts'
import type { FrozenLm, StateHandle } from '../../../../models/frozen-lm/port.ts'
import { readSafetensorsHeader, readTensorF32, writeSafetensors } from '../../../../models/safetensors.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-session-'))
const CONTEXT = 320
const VOCABULARY = 64
const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  vocab_size: VOCABULARY,
  max_position_embeddings: CONTEXT,
  rms_norm_eps: 1e-5,
}
const NOTHING = { past: null, rows: 'last', keepState: false } as const

let f32: FrozenLm
let f16: FrozenLm
beforeAll(async () => {
  writeRandomCheckpoint({ directory: join(folder, 'f32'), config: CONFIG, seed: 1 })
  writeRandomCheckpoint({ directory: join(folder, 'f16'), config: { ...CONFIG, torch_dtype: 'float16' }, seed: 1 })
  f32 = await loadFrozenLm({ directory: join(folder, 'f32'), layer: 2 })
  f16 = await loadFrozenLm({ directory: join(folder, 'f16'), layer: 2 })
})
afterAll(async () => {
  await f32.close()
  await f16.close()
  rmSync(folder, { recursive: true })
})

const tokensOf = (length: number): Int32Array => Int32Array.from({ length }, (_, i) => (i * 37 + 5) % VOCABULARY)

function stateOf(result: { readonly state: StateHandle | null }): StateHandle {
  if (result.state === null) throw new Error('the state was asked for')
  return result.state
}

describe('the bits of a hidden state do not depend on how its view was run', () => {
  for (const [name, lm] of [
    ['F32', () => f32],
    ['F16', () => f16],
  ] as const) {
    test.prop([fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 150 }), fc.integer({ min: 0, max: 20 })])(
      `${name} weights: any split into prefix, extension and target`,
      async (prefix, target, extension) => {
        const tokens = tokensOf(prefix + extension + target)
        const full = await lm().prefill(tokens, NOTHING)
        const first = await lm().prefill(tokens.subarray(0, prefix), { ...NOTHING, keepState: true })
        let past = stateOf(first)
        if (extension > 0) {
          const more = tokens.subarray(prefix, prefix + extension)
          past = stateOf(await lm().prefill(more, { past, rows: 'last', keepState: true }))
        }
        expect(past.tokenCount).toBe(prefix + extension)
        const behind = await lm().prefill(tokens.subarray(prefix + extension), { past, rows: 'last', keepState: false })
        expect(behind.hidden.data).toEqual(full.hidden.data)
      },
    )

    test.prop([fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 6 })])(
      `${name} weights: any set of rows in any order`,
      async (rows) => {
        const { hidden } = await lm().prefill(tokensOf(100), { past: null, rows, keepState: false })
        expect([hidden.rows, hidden.cols, hidden.data.length]).toEqual([rows.length, 32, rows.length * 32])
        for (const [i, row] of rows.entries()) {
          const alone = await lm().prefill(tokensOf(100), { past: null, rows: [row], keepState: false })
          expect(hidden.data.slice(i * 32, (i + 1) * 32)).toEqual(alone.hidden.data)
        }
      },
    )
  }
})

describe('a state', () => {
  it('serves many targets, and says how many tokens and bytes it holds', async () => {
    const state = stateOf(await f32.prefill(tokensOf(33), { ...NOTHING, keepState: true }))
    // 2 layers x key and value x 1 head x 33 tokens x 16 x 4 bytes
    expect(state).toEqual({ tokenCount: 33, sizeBytes: 2 * 2 * 33 * 16 * 4 })
    const once = await f32.prefill(Int32Array.of(7, 8), { past: state, rows: 'last', keepState: false })
    const again = await f32.prefill(Int32Array.of(7, 8), { past: state, rows: 'last', keepState: false })
    expect(again.hidden.data).toEqual(once.hidden.data)
  })

  it('cannot be used once it was disposed', async () => {
    const state = stateOf(await f32.prefill(tokensOf(4), { ...NOTHING, keepState: true }))
    f32.dispose(state)
    await expect(f32.prefill(tokensOf(2), { past: state, rows: 'last', keepState: false })).rejects.toThrow(
      expect.objectContaining({ code: 'invariant', message: expect.stringContaining('disposed') }),
    )
  })

  it('of one LM means nothing to another', async () => {
    const state = stateOf(await f32.prefill(tokensOf(4), { ...NOTHING, keepState: true }))
    await expect(f16.prefill(tokensOf(2), { past: state, rows: 'last', keepState: false })).rejects.toThrow(
      expect.objectContaining({ code: 'invariant' }),
    )
  })
})

describe('limits', () => {
  it('takes a view as long as the context and not one token more, behind a past too', async () => {
    const full = await f32.prefill(tokensOf(CONTEXT), { ...NOTHING, keepState: true })
    expect(full.state?.tokenCount).toBe(CONTEXT)
    for (const [tokens, past] of [
      [CONTEXT + 1, null],
      [1, stateOf(full)],
    ] as const)
      await expect(f32.prefill(tokensOf(tokens), { past, rows: 'last', keepState: false })).rejects.toThrow(
        expect.objectContaining({ code: 'context-too-short', message: expect.stringContaining('context of 320') }),
      )
  })

  it('says that the tokenizer is of another model when a token is outside of the vocabulary', async () => {
    await expect(f32.prefill(Int32Array.of(1, VOCABULARY), NOTHING)).rejects.toThrow(
      expect.objectContaining({ code: 'tensor-mismatch', message: expect.stringContaining('tokenizer.json') }),
    )
  })

  it('refuses to run nothing', async () => {
    await expect(f32.prefill(new Int32Array(0), NOTHING)).rejects.toThrow(
      expect.objectContaining({ code: 'invariant' }),
    )
  })
})

describe('loading', () => {
  it('takes layer 0 as the embeddings', async () => {
    const directory = join(folder, 'f16')
    const lm = await loadFrozenLm({ directory, layer: 0 })
    const path = join(directory, 'model.safetensors')
    const info = readSafetensorsHeader(path).tensors.get('model.embed_tokens.weight')
    if (info === undefined) throw new Error('no embeddings')
    const { hidden, state } = await lm.prefill(Int32Array.of(9, 3), { past: null, rows: [0, 1], keepState: true })
    const embeddings = readTensorF32(path, info)
    expect([...hidden.data]).toEqual([...embeddings.slice(9 * 32, 10 * 32), ...embeddings.slice(3 * 32, 4 * 32)])
    expect(state).toEqual({ tokenCount: 2, sizeBytes: 0 })
    await lm.close()
  })

  it('defaults to two thirds of the depth, rounded up', async () => {
    expect([1, 2, 3, 6, 30].map(defaultLayer)).toEqual([1, 2, 2, 4, 20])
    const lm = await loadFrozenLm({ directory: join(folder, 'f32'), layer: 'default' })
    expect(lm.info).toEqual({
      architecture: 'LlamaForCausalLM',
      hiddenSize: 32,
      layerCount: 2,
      layer: 2,
      contextLength: CONTEXT,
      vocabularySize: VOCABULARY,
      device: 'cpu',
    })
    await lm.close()
  })

  it.each([-1, 3, 1.5])('refuses layer %s and names the range', async (layer) => {
    await expect(loadFrozenLm({ directory: join(folder, 'f32'), layer })).rejects.toThrow(
      expect.objectContaining({
        code: 'layer-out-of-range',
        message: expect.stringContaining('layers 0 (embeddings) to 2'),
      }),
    )
  })

  it.each(['cuda', 'webgpu'] as const)(
    'runs on the device %s or says that it cannot, and never elsewhere',
    async (device) => {
      const started = loadFrozenLm({ directory: join(folder, 'f32'), layer: 1, execution: { device } })
      const outcome = await started.then(
        async (lm) => {
          await lm.close()
          return lm.info.device
        },
        (error: { readonly code: string }) => error.code,
      )
      expect([device, 'device-unavailable', 'device-self-check-failed']).toContain(outcome)
    },
  )

  it('reports weights that make the output not finite, with the row', async () => {
    const directory = join(folder, 'infinite')
    writeRandomCheckpoint({ directory, config: CONFIG, seed: 1 })
    const path = join(directory, 'model.safetensors')
    const tensors = [...readSafetensorsHeader(path).tensors].map(([name, info]) => {
      const data = readTensorF32(path, info)
      return { name, shape: info.shape, data: name.endsWith('1.mlp.up_proj.weight') ? data.fill(3e38) : data }
    })
    writeSafetensors(path, tensors)
    const lm = await loadFrozenLm({ directory, layer: 2 })
    await expect(lm.prefill(tokensOf(5), NOTHING)).rejects.toThrow(
      expect.objectContaining({ code: 'output-not-finite', message: expect.stringMatching(/token 4 after layer 2/) }),
    )
    await lm.close()
  })

  it('wraps what the runtime throws', async () => {
    const directory = join(folder, 'closed')
    writeRandomCheckpoint({ directory, config: CONFIG, seed: 1 })
    const lm = await loadFrozenLm({ directory, layer: 1 })
    await lm.close()
    await expect(lm.prefill(tokensOf(5), NOTHING)).rejects.toThrow(expect.objectContaining({ code: 'session-failed' }))
  })
})
