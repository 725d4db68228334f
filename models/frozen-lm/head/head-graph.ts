/**
 * From hidden states after the last layer to the log-probability of one token each, as an ONNX graph: logits of the whole
 * vocabulary never leave it. Weights stay in the checkpoint's files.
 */
import { createOnnxGraph } from '../../onnx/onnx-graph.ts'
import { normalise } from '../blocks/layer-scope.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { FINAL_NORM, LM_HEAD } from '../decoder.ts'
import type { GraphVariant } from '../graph-variant.ts'
import { createWeights } from '../weights.ts'

/** M rows. */
export const HEAD_NAMES = {
  /** [M, d] f32: output of the last layer, before the final norm */
  hidden: 'hidden',
  /** [M, 1] i64: the token whose probability is wanted */
  tokens: 'tokens',
  /** [M, 1] f32: log p(token), nats */
  logProbabilities: 'log_probabilities',
} as const

/** @param head what openHead gives */
export function buildHeadGraph(head: Checkpoint, variant: GraphVariant): Uint8Array {
  const { config } = head
  const { scale, softCap } = config.head
  const graph = createOnnxGraph(`${config.architecture}-head`)
  const weights = createWeights(graph, head, variant)
  const names = HEAD_NAMES
  graph.input(names.hidden, 'f32', ['M', config.hiddenSize])
  graph.input(names.tokens, 'i64', ['M', 1])
  const weight = weights.load(FINAL_NORM)
  const { epsilon, weightOffset } = config.norm
  const normed = normalise(graph, {
    input: names.hidden,
    scale: weightOffset === 0 ? weight : graph.op('Add', [weight, graph.scalar(weightOffset)]),
    epsilon,
  })
  let logits = weights.multiply(normed, LM_HEAD)
  if (scale !== 1) logits = graph.op('Mul', [logits, graph.scalar(scale)])
  if (softCap !== null) {
    const shares = graph.op('Tanh', [graph.op('Div', [logits, graph.scalar(softCap)])])
    logits = graph.op('Mul', [shares, graph.scalar(softCap)])
  }
  const all = graph.op('LogSoftmax', [logits], { attributes: { axis: { int: -1 } } })
  graph.op('GatherElements', [all, names.tokens], {
    attributes: { axis: { int: 1 } },
    outputs: [names.logProbabilities],
  })
  graph.output(names.logProbabilities, 'f32', ['M', 1])
  return graph.encode()
}
