import * as ort from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import { stateTensor } from '../../../../models/frozen-lm/decoder-names.ts'
import { createLayerStates } from '../../../../models/frozen-lm/layer-states.ts'

const KEY = stateTensor('key', 0, [1, 2, 'P', 3])
const RECURRENT = stateTensor('recurrent', 1, [1, 2, 2])

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
