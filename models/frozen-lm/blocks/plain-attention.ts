/**
 * Causal grouped-query attention in plain operators, for devices whose fused operator is missing or wrong. Scores of one
 * layer are materialised, [H, S, T] f32, so long runs cost memory: T = 5,120 with 32 heads and S = 1,280 are 840 MB.
 */
import type { OnnxGraph } from '../../onnx/onnx-graph.ts'
import type { AttentionConfig } from '../decoder.ts'
import { DECODER_NAMES, type StateTensor } from '../decoder-names.ts'
import type { LayerScope } from './layer-scope.ts'
import { narrow, widen } from './precision.ts'

/** Added to scores that the mask forbids: their weight underflows to 0. A row always has one that is allowed. */
const FORBIDDEN = -1e30

export interface PlainAttention {
  /**
   * @param part.query [1, S, H * D] f32, part.key and part.value [1, S, K * D] narrow; rotated
   * @param part.states past and present of keys and values, [1, K, P, D]
   * @returns [1, S, H * D], narrow
   */
  attend(
    scope: LayerScope,
    part: {
      readonly config: AttentionConfig
      readonly headSize: number
      readonly query: string
      readonly key: string
      readonly value: string
      readonly states: readonly StateTensor[]
    },
  ): string
}

export function createPlainAttention(graph: OnnxGraph): PlainAttention {
  const masks = new Map<number | null, string>()
  /** [S, T], the same for all layers of one window */
  const maskOf = (window: number | null): string => {
    const known = masks.get(window)
    if (known !== undefined) return known
    const { queryPositions, keyPositions } = DECODER_NAMES
    const forbidden = graph.scalar(FORBIDDEN)
    const zero = graph.scalar(0)
    let mask = graph.op('Where', [graph.op('Greater', [keyPositions, queryPositions]), forbidden, zero])
    if (window !== null) {
      // Key k and query q, both counted in tokens: k <= q - window lies outside.
      const last = graph.op('Sub', [queryPositions, graph.scalar(window - 1)])
      const before = graph.op('Where', [graph.op('Less', [keyPositions, last]), forbidden, zero])
      mask = graph.op('Add', [mask, before])
    }
    masks.set(window, mask)
    return mask
  }

  return {
    attend(scope, { config, headSize, query, key, value, states }) {
      const { headCount, keyValueHeadCount, scale, softCap, window } = config
      const groups = headCount / keyValueHeadCount
      const reshape = (from: string, shape: readonly number[]): string => graph.op('Reshape', [from, graph.ints(shape)])
      const transpose = (from: string, perm: readonly number[]): string =>
        graph.op('Transpose', [from], { attributes: { perm: { ints: perm } } })
      const [keys, values] = [key, value].map((fresh, index) => {
        const heads = transpose(reshape(fresh, [0, 0, keyValueHeadCount, headSize]), [0, 2, 1, 3])
        const state = states[index]
        return graph.op('Concat', [state?.past ?? '', heads], {
          attributes: { axis: { int: 2 } },
          outputs: [state?.present ?? ''],
        })
      }) as [string, string]
      // [1, K, G * S, D]: the query heads of one key head stand below each other, so that no operand is repeated.
      const stacked = reshape(transpose(reshape(query, [0, 0, keyValueHeadCount, groups, headSize]), [0, 2, 3, 1, 4]), [
        1,
        keyValueHeadCount,
        -1,
        headSize,
      ])
      const products = graph.op('MatMul', [stacked, transpose(widen(scope, keys), [0, 1, 3, 2])])
      // A 0 keeps the last dimension, T.
      let scores = graph.op('Mul', [reshape(products, [keyValueHeadCount, groups, -1, 0]), graph.scalar(scale)])
      if (softCap !== null) {
        const cap = graph.scalar(softCap)
        scores = graph.op('Mul', [graph.op('Tanh', [graph.op('Div', [scores, cap])]), cap])
      }
      const weights = graph.op('Softmax', [graph.op('Add', [scores, maskOf(window)])], {
        attributes: { axis: { int: -1 } },
      })
      const attended = graph.op('MatMul', [reshape(narrow(scope, weights), [1, keyValueHeadCount, -1, 0]), values])
      const byToken = transpose(reshape(attended, [keyValueHeadCount, groups, -1, headSize]), [2, 0, 1, 3])
      return reshape(byToken, [1, -1, headCount * headSize])
    },
  }
}
