/**
 * What every scoring graph of a router ends with: pre-activations in, a logit per row out. Parameters are initializers.
 */
import type { OnnxGraph } from '../onnx/onnx-graph.ts'
import { tensorOf, tensorsOf } from './parameters.ts'
import type { RouterParameters, RouterSpec } from './spec.ts'

/** Adds the parameters whose names `keep` accepts. */
export function addParameters(
  graph: OnnxGraph,
  router: { readonly spec: RouterSpec; readonly parameters: RouterParameters },
  keep: (name: string) => boolean = () => true,
): void {
  for (const { name, shape } of tensorsOf(router.spec))
    if (keep(name)) graph.constant(name, 'f32', shape, tensorOf(router.parameters, name))
}

/**
 * Sum of (rows, H) terms that broadcast over rows, then b1, ReLU and the second layer; at width 0 the sum and b2.
 * @param terms names of values
 * @param output name of the logits (N, 1)
 */
export function addHead(graph: OnnxGraph, spec: RouterSpec, terms: readonly string[], output: string): void {
  const all = spec.width > 0 ? [...terms, 'b1'] : terms
  const preActivation = all.reduce((sum, term) => graph.op('Add', [sum, term]))
  const product =
    spec.width === 0
      ? preActivation
      : graph.op('MatMul', [graph.op('Relu', [preActivation]), graph.op('Reshape', ['w2', graph.ints([-1, 1])])])
  graph.op('Add', [product, 'b2'], { outputs: [output] })
}
