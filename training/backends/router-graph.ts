/**
 * The training graphs of a router as ONNX: forward only, and forward with a backward pass written by hand.
 * Parameters are inputs, so that both graphs read the optimiser's memory. Letters: training/batch.ts, H = width.
 *   loss = sum w (softplus(logit) - y logit);  dlogit = w (sigmoid(logit) - y);  padding has w = 0 and S = 0
 */
import { createOnnxGraph, type OnnxGraph } from '../../models/onnx/onnx-graph.ts'
import { blocksOf, firstLayerColumns, tensorsOf } from '../../models/router/parameters.ts'
import { type BlockName, blockSize, type RouterSpec } from '../../models/router/spec.ts'

/** Names of feeds beside the tensors of the router itself. */
export const FEED = {
  selection: 'selection',
  selectionTransposed: 'selection_transposed',
  blockRows: 'block_rows',
  evidence: 'evidence',
  labels: 'labels',
  weights: 'weights',
  mask: 'mask',
  vectors: (block: BlockName): string => `vectors.${block}`,
  gradient: (tensor: string): string => `gradient.${tensor}`,
  logits: 'logits',
  loss: 'loss',
} as const

interface FirstLayer {
  readonly vectorBlocks: readonly BlockName[]
  /** Z1 (T, P, H or 1), with b1 where there is one. */
  readonly preActivation: string
}

/** feeds -> logits (T, P, 1), no dropout. */
export function forwardGraph(spec: RouterSpec): Uint8Array {
  const graph = createOnnxGraph('router-forward')
  addParameters(graph, spec)
  const { preActivation } = addFirstLayer(graph, spec)
  const hidden = spec.width === 0 ? preActivation : graph.op('Relu', [preActivation])
  addLogits(graph, spec, hidden)
  graph.output(FEED.logits, 'f32', ['T', 'P', 1])
  return graph.encode()
}

/** feeds, labels, weights (and mask when the spec has dropout) -> loss and the gradient of every tensor. */
export function gradientGraph(spec: RouterSpec): Uint8Array {
  const graph = createOnnxGraph('router-gradient')
  const columns = firstLayerColumns(spec)
  addParameters(graph, spec)
  const { vectorBlocks, preActivation } = addFirstLayer(graph, spec)
  graph.input(FEED.labels, 'f32', ['T', 'P', 1])
  graph.input(FEED.weights, 'f32', ['T', 'P', 1])
  const flat = (name: string, cols: number): string => graph.op('Reshape', [name, graph.ints([-1, cols])])
  const sumRows = (name: string, output: string): string =>
    graph.op('ReduceSum', [name, graph.ints([0, 1])], { attributes: { keepdims: { int: 0 } }, outputs: [output] })
  const transposedProduct = (left: string, right: string, output: string): string =>
    graph.op('Gemm', [left, right], { attributes: { transA: { int: 1 } }, outputs: [output] })

  const activation = spec.width === 0 ? preActivation : graph.op('Relu', [preActivation])
  if (useMask(spec)) graph.input(FEED.mask, 'f32', ['T', 'P', spec.width])
  const hidden = useMask(spec) ? graph.op('Mul', [activation, FEED.mask]) : activation
  const logits = addLogits(graph, spec, hidden)
  const perPair = graph.op('Sub', [graph.op('Softplus', [logits]), graph.op('Mul', [logits, FEED.labels])])
  graph.op('ReduceSum', [graph.op('Mul', [perPair, FEED.weights])], {
    attributes: { keepdims: { int: 0 } },
    outputs: [FEED.loss],
  })

  const error = graph.op('Sub', [graph.op('Sigmoid', [logits]), FEED.labels])
  const dLogits = graph.op('Mul', [error, FEED.weights])
  sumRows(dLogits, FEED.gradient('b2'))
  let dPre = dLogits
  if (spec.width > 0) {
    graph.op(
      'Reshape',
      [transposedProduct(flat(hidden, spec.width), flat(dLogits, 1), 'w2_column'), graph.ints([-1])],
      {
        outputs: [FEED.gradient('w2')],
      },
    )
    const dHidden = graph.op('MatMul', [dLogits, graph.op('Reshape', ['w2', graph.ints([1, spec.width])])])
    const gated = useMask(spec) ? graph.op('Mul', [dHidden, FEED.mask]) : dHidden
    // relu' looks at the pre-activation itself, not at the masked activation.
    dPre = graph.op('Where', [graph.op('Greater', [preActivation, graph.scalar(0)]), gated, graph.scalar(0)])
    sumRows(dPre, FEED.gradient('b1'))
  }
  if (vectorBlocks.length > 0) {
    graph.input(FEED.selectionTransposed, 'f32', ['T', 'N', 'P'])
    graph.input(FEED.blockRows, 'i64', [vectorBlocks.length])
    const dProjected = graph.op('MatMul', [FEED.selectionTransposed, dPre])
    const parts = vectorBlocks.map((block) => `d_projected.${block}`)
    graph.op('Split', [dProjected, FEED.blockRows], { attributes: { axis: { int: 1 } }, outputs: parts })
    vectorBlocks.forEach((block, b) => {
      const vectors = flat(FEED.vectors(block), spec.hiddenSize)
      transposedProduct(vectors, flat(parts[b] ?? '', columns), FEED.gradient(`weights.${block}`))
    })
  }
  if (blocksOf(spec).includes('x'))
    transposedProduct(flat(FEED.evidence, spec.evidenceSize), flat(dPre, columns), FEED.gradient('weights.x'))

  graph.output(FEED.loss, 'f32', [])
  for (const tensor of tensorsOf(spec)) graph.output(FEED.gradient(tensor.name), 'f32', tensor.shape)
  return graph.encode()
}

/** Dropout acts on hidden units, so logistic regression has none. */
export function useMask(spec: RouterSpec): boolean {
  return spec.width > 0 && spec.dropout > 0
}

function addParameters(graph: OnnxGraph, spec: RouterSpec): void {
  for (const tensor of tensorsOf(spec)) graph.input(tensor.name, 'f32', tensor.shape)
}

function addFirstLayer(graph: OnnxGraph, spec: RouterSpec): FirstLayer {
  const vectorBlocks = blocksOf(spec).filter((block) => block !== 'x')
  const terms: string[] = []
  if (vectorBlocks.length > 0) {
    const projected = vectorBlocks.map((block) => {
      graph.input(FEED.vectors(block), 'f32', ['T', `N_${block}`, blockSize(spec, block)])
      return graph.op('MatMul', [FEED.vectors(block), `weights.${block}`])
    })
    graph.input(FEED.selection, 'f32', ['T', 'P', 'N'])
    const stacked = graph.op('Concat', projected, { attributes: { axis: { int: 1 } } })
    terms.push(graph.op('MatMul', [FEED.selection, stacked]))
  }
  if (blocksOf(spec).includes('x')) {
    graph.input(FEED.evidence, 'f32', ['T', 'P', spec.evidenceSize])
    terms.push(graph.op('MatMul', [FEED.evidence, 'weights.x']))
  }
  if (spec.width > 0) terms.push('b1')
  const preActivation = terms.reduce((sum, term) => graph.op('Add', [sum, term]))
  return { vectorBlocks, preActivation }
}

function addLogits(graph: OnnxGraph, spec: RouterSpec, hidden: string): string {
  const product =
    spec.width === 0 ? hidden : graph.op('MatMul', [hidden, graph.op('Reshape', ['w2', graph.ints([-1, 1])])])
  return graph.op('Add', [product, 'b2'], { outputs: [FEED.logits] })
}
