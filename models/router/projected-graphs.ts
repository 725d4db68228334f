/**
 * Scoring in two graphs (reference/trainer.md, section 5): what a vector gives to the first layer is computed once and
 * kept, so that a new checkpoint costs one product with its state vector instead of three with every target.
 *   project: V Wh, V Wm                       once per vector
 *   score:   C + S M + q Wq (+ x Wx) + b1     once per checkpoint
 */
import { createOnnxGraph } from '../onnx/onnx-graph.ts'
import { firstLayerColumns } from './parameters.ts'
import { addHead, addParameters } from './router-head.ts'
import { LOGITS } from './score-graph.ts'
import type { RouterParameters, RouterSpec } from './spec.ts'

/** vectors (N, d) -> candidates, neighbours (N, H). */
export function projectionGraph(spec: RouterSpec, parameters: RouterParameters): Uint8Array {
  const graph = createOnnxGraph('router-project')
  addParameters(graph, { spec, parameters }, (name) => name === 'weights.h' || name === 'weights.m')
  graph.input('vectors', 'f32', ['N', spec.hiddenSize])
  graph.op('MatMul', ['vectors', 'weights.h'], { outputs: ['candidates'] })
  graph.op('MatMul', ['vectors', 'weights.m'], { outputs: ['neighbours'] })
  for (const name of ['candidates', 'neighbours']) graph.output(name, 'f32', ['N', firstLayerColumns(spec)])
  return graph.encode()
}

/** candidates (N, H), neighbours (M, H), selection (N, M), q (1, d), x (N, X) where it is read -> logits (N, 1). */
export function projectedScoreGraph(spec: RouterSpec, parameters: RouterParameters): Uint8Array {
  const graph = createOnnxGraph('router-score-projected')
  const columns = firstLayerColumns(spec)
  addParameters(graph, { spec, parameters }, (name) => name !== 'weights.h' && name !== 'weights.m')
  graph.input('candidates', 'f32', ['N', columns])
  graph.input('neighbours', 'f32', ['M', columns])
  graph.input('selection', 'f32', ['N', 'M'])
  graph.input('q', 'f32', [1, spec.hiddenSize])
  const terms = ['candidates', graph.op('MatMul', ['selection', 'neighbours']), graph.op('MatMul', ['q', 'weights.q'])]
  if (spec.inputs === 'hidden+evidence') {
    graph.input('x', 'f32', ['N', spec.evidenceSize])
    terms.push(graph.op('MatMul', ['x', 'weights.x']))
  }
  addHead(graph, spec, terms, LOGITS)
  graph.output(LOGITS, 'f32', ['N', 1])
  return graph.encode()
}
