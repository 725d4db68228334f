/**
 * The scoring graph of a router: raw inputs of one checkpoint in, a logit per target out. Parameters are initializers.
 */
import { createOnnxGraph } from '../onnx/onnx-graph.ts'
import { blocksOf } from './parameters.ts'
import { addHead, addParameters } from './router-head.ts'
import { type BlockName, blockSize, type RouterParameters, type RouterSpec } from './spec.ts'

export const LOGITS = 'logits'

/** h, m (N, d), q (1, d), x (N, X), whichever the spec reads -> logits (N, 1). */
export function scoreGraph(spec: RouterSpec, parameters: RouterParameters): Uint8Array {
  const graph = createOnnxGraph('router-score')
  addParameters(graph, { spec, parameters })
  const terms = blocksOf(spec).map((block) => {
    graph.input(block, 'f32', [rowsOf(block), blockSize(spec, block)])
    return graph.op('MatMul', [block, `weights.${block}`])
  })
  addHead(graph, spec, terms, LOGITS)
  graph.output(LOGITS, 'f32', ['N', 1])
  return graph.encode()
}

/** q is one vector for the whole checkpoint and broadcasts over the targets. */
function rowsOf(block: BlockName): number | string {
  return block === 'q' ? 1 : 'N'
}
