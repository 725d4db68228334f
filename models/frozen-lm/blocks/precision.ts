/**
 * Where a graph of precision f16 changes between the two: linear maps and the product of attention weights and values run
 * in float16, everything else in float32. In a graph of precision f32 all of this is the value itself.
 *
 * Why there: norms, softmax and recurrences sum thousands of values, scores are exponentiated, and token 0 of real models
 * carries activations beyond float16's 65,504 in the residual stream and before the feed-forward's last map.
 */
import { ONNX_DTYPE } from '../../onnx/onnx-graph.ts'
import type { LayerScope } from './layer-scope.ts'

/** Below it a row is a row of zeros. */
const NOTHING = 1e-30

/** float32 -> what linear maps multiply. The values must fit: normed rows, attended values. */
export function narrow(scope: LayerScope, value: string): string {
  return scope.precision === 'f32' ? value : cast(scope, value, 'f16')
}

/** What linear maps give -> float32. */
export function widen(scope: LayerScope, value: string): string {
  return scope.precision === 'f32' ? value : cast(scope, value, 'f32')
}

/**
 * `map` over values of any size: each row is divided by its largest value before it is narrowed, and what the map gives
 * is multiplied by it again.
 * @param value [..., n] f32
 * @param map linear, from narrow rows to float32
 */
export function throughNarrow(scope: LayerScope, value: string, map: (narrowed: string) => string): string {
  const { graph, precision } = scope
  if (precision === 'f32') return map(value)
  const axis = { ints: [-1] }
  const largest = graph.op('ReduceMax', [graph.op('Abs', [value])], {
    attributes: { axes: axis, keepdims: { int: 1 } },
  })
  const scale = graph.op('Max', [largest, graph.scalar(NOTHING)])
  return graph.op('Mul', [map(narrow(scope, graph.op('Div', [value, scale]))), scale])
}

function cast(scope: LayerScope, value: string, to: 'f16' | 'f32'): string {
  return scope.graph.op('Cast', [value], { attributes: { to: { int: ONNX_DTYPE[to] } } })
}
