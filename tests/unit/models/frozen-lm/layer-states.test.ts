import * as ort from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import { stateTensor } from '../../../../models/frozen-lm/decoder-names.ts'
import { createLayerStates } from '../../../../models/frozen-lm/layer-states.ts'

const KEY = stateTensor('key', 0, { shape: [1, 2, 'P', 3] })
const RECURRENT = stateTensor('recurrent', 1, { shape: [1, 2, 2] })

const tensor = (dims: readonly number[]): ort.Tensor => {
  const size = dims.reduce((product, dim) => product * dim, 1)
  return new ort.Tensor(
    'float32',
    Float32Array.from({ length: size }, (_, i) => i),
    dims,
  )
}

describe('layer states', () => {
  it('start empty where they grow with the tokens, and as zeros where they do not', () => {
    const feeds = createLayerStates([KEY, RECURRENT]).feeds(null)
    expect(feeds.past_key_0?.dims).toEqual([1, 2, 0, 3])
    expect(feeds.past_recurrent_1?.dims).toEqual([1, 2, 2])
    expect(feeds.past_recurrent_1?.data).toEqual(new Float32Array(4))
  })

  it('keep the first tokens of every head, and a recurrent tensor as it is', () => {
    const states = createLayerStates([KEY, RECURRENT])
    expect(states.outputNames).toEqual(['present_key_0', 'present_recurrent_1'])
    const state = states.keep({ present_key_0: tensor([1, 2, 4, 3]), present_recurrent_1: tensor([1, 2, 2]) }, 2)
    expect(state).toEqual({ tokenCount: 2, sizeBytes: (2 * 2 * 3 + 4) * 4 })
    const feeds = states.feeds(state)
    expect(feeds.past_key_0?.dims).toEqual([1, 2, 2, 3])
    expect(feeds.past_key_0?.data).toEqual(Float32Array.of(0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17))
    expect(feeds.past_recurrent_1?.data).toEqual(Float32Array.of(0, 1, 2, 3))
  })

  it('cut half-precision keys and values as they are, two bytes each', () => {
    const states = createLayerStates([stateTensor('value', 0, { shape: [1, 2, 'P', 3], dtype: 'f16' })])
    expect(states.feeds(null).past_value_0).toMatchObject({ type: 'float16', dims: [1, 2, 0, 3] })
    const computed = new ort.Tensor(
      'float16',
      Uint16Array.from({ length: 24 }, (_, i) => 0x3c00 + i),
      [1, 2, 4, 3],
    )
    const state = states.keep({ present_value_0: computed }, 2)
    expect(state).toEqual({ tokenCount: 2, sizeBytes: 2 * 2 * 3 * 2 })
    const kept = states.feeds(state).past_value_0
    expect(kept).toMatchObject({ type: 'float16', dims: [1, 2, 2, 3] })
    expect(kept?.data).toEqual(Uint16Array.of(0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17).map((i) => 0x3c00 + i))
  })

  it('are gone once disposed, and after the session', () => {
    const states = createLayerStates([RECURRENT])
    const keep = () => states.keep({ present_recurrent_1: tensor([1, 2, 2]) }, 1)
    const [first, second] = [keep(), keep()]
    states.dispose(first)
    expect(() => states.feeds(first)).toThrow(expect.objectContaining({ code: 'invariant' }))
    expect(states.feeds(second).past_recurrent_1?.dims).toEqual([1, 2, 2])
    states.clear()
    expect(() => states.feeds(second)).toThrow(expect.objectContaining({ code: 'invariant' }))
  })
})
