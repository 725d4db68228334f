/**
 * Mixture of experts, exact and sparse (a shared one, where there is one, is dense): each expert computes only the tokens that chose it, so a layer costs
 * `activeCount` experts per token, whatever their number, and every matrix stays mapped from its file. (onnxruntime's own
 * MoE operator wants all experts stacked in one tensor: a copy of most of the model.)
 *
 * Each expert is the branch of an If node. An expert that no token chose costs nothing, and loading stays possible:
 * onnxruntime plans memory in time quadratic in the values of unknown length of one graph, so that three layers of 128
 * experts took 31 s to load flat and 0.9 s in branches (CPU time; eight layers 4 to 5 s, optimiser included).
 *
 * A matrix product of one row takes another code path with other last bits (run-shape.ts): two rows of zeros stand at the
 * end of every expert's tokens, so that no expert ever sees a single one and a token's result does not depend on how many
 * others chose the same expert. What they give is added to a row of zeros below the real tokens.
 */
import { ONNX_DTYPE, type OnnxGraph } from '../../onnx/onnx-graph.ts'
import type { ExpertsConfig } from '../decoder.ts'
import { feedForward } from './feed-forward.ts'
import { type LayerScope, wideLinear } from './layer-scope.ts'
import { type DecoderTensor, linearTensors } from './tensor-shapes.ts'

const SHARED = 'mlp.shared_expert'
const SHARED_GATE = 'mlp.shared_expert_gate'
const expertName = (expert: number): string => `mlp.experts.${expert}`

export function* expertsTensors(config: ExpertsConfig, hiddenSize: number): Generator<DecoderTensor> {
  const { expertCount, size, sharedSize, stacked } = config
  yield* linearTensors({ name: 'mlp.gate', outputs: expertCount, inputs: hiddenSize, bias: false })
  for (let expert = 0; expert < expertCount; expert++) {
    const tensors = expertTensors(expertName(expert), { size, hiddenSize })
    yield* stacked ? stackedTensors(tensors, { config, expert, hiddenSize }) : tensors
  }
  if (sharedSize === null) return
  yield* expertTensors(SHARED, { size: sharedSize, hiddenSize })
  yield* linearTensors({ name: SHARED_GATE, outputs: 1, inputs: hiddenSize, bias: false })
}

/** Gate, up and down. */
function* expertTensors(
  name: string,
  { size, hiddenSize }: { readonly size: number; readonly hiddenSize: number },
): Generator<DecoderTensor> {
  yield* linearTensors({ name: `${name}.gate_proj`, outputs: size, inputs: hiddenSize, bias: false })
  yield* linearTensors({ name: `${name}.up_proj`, outputs: size, inputs: hiddenSize, bias: false })
  yield* linearTensors({ name: `${name}.down_proj`, outputs: hiddenSize, inputs: size, bias: false })
}

/** The same three as rows of the tensors that hold all experts; each stays where it lies in the file. */
function* stackedTensors(
  tensors: Iterable<DecoderTensor>,
  of: { readonly config: ExpertsConfig; readonly expert: number; readonly hiddenSize: number },
): Generator<DecoderTensor> {
  const { config, expert, hiddenSize } = of
  const { expertCount, size } = config
  const gateUp = { of: 'mlp.experts.gate_up_proj', whole: [expertCount, 2 * size, hiddenSize] }
  const down = { of: 'mlp.experts.down_proj', whole: [expertCount, hiddenSize, size] }
  const parts = [
    { ...gateUp, firstRow: 2 * size * expert },
    { ...gateUp, firstRow: 2 * size * expert + size },
    { ...down, firstRow: hiddenSize * expert },
  ]
  let next = 0
  for (const tensor of tensors) yield { ...tensor, part: parts[next++] ?? null }
}

/**
 * @param input [1, S, d], normed
 * @returns [1, S, d]
 */
export function experts(
  scope: LayerScope,
  block: { readonly config: ExpertsConfig; readonly hiddenSize: number; readonly input: string },
): string {
  const { graph } = scope
  const { config, hiddenSize, input } = block
  const { chosen, weights } = route(scope, config, graph.op('Reshape', [input, graph.ints([-1, hiddenSize])]))
  // [S + 1, d]: the tokens and a row of zeros, whose index S the unused places of an expert point to.
  const rows = graph.op('Pad', [graph.op('Reshape', [input, graph.ints([-1, hiddenSize])]), graph.ints([0, 0, 1, 0])])
  const tokenCount = graph.op('Slice', [graph.op('Shape', [chosen]), graph.ints([0]), graph.ints([1])])
  const unused = graph.op('Concat', [tokenCount, tokenCount], { attributes: { axis: { int: 0 } } })
  const isUsed = usedExperts(scope, config, chosen)
  let sum = graph.op('Mul', [rows, graph.scalar(0)])
  for (const [expert, used] of isUsed.entries()) {
    const before = sum
    sum = graph.op('If', [used], {
      attributes: {
        then_branch: graph.branch(() => {
          const { tokens, shares } = assigned(graph, { chosen, weights, unused, expert })
          const own = graph.op('Gather', [rows, tokens], { attributes: { axis: { int: 0 } } })
          const output = feedForward(scope, { name: expertName(expert), activation: config.activation, input: own })
          const places = graph.op('Unsqueeze', [tokens, graph.ints([1])])
          return graph.op('ScatterND', [before, places, graph.op('Mul', [output, shares])], {
            attributes: { reduction: { text: 'add' } },
          })
        }),
        else_branch: graph.branch(() => graph.op('Identity', [before])),
      },
    })
  }
  const real = graph.op('Slice', [sum, graph.ints([0]), tokenCount])
  const chosenOnes = graph.op('Reshape', [real, graph.ints([1, -1, hiddenSize])])
  return config.sharedSize === null ? chosenOnes : graph.op('Add', [chosenOnes, sharedExpert(scope, config, input)])
}

/** [1, S, d] -> [1, S, d] */
function sharedExpert(scope: LayerScope, config: ExpertsConfig, input: string): string {
  const { graph } = scope
  const output = feedForward(scope, { name: SHARED, activation: config.activation, input })
  return graph.op('Mul', [output, graph.op('Sigmoid', [wideLinear(scope, SHARED_GATE, input)])])
}

/** @returns per expert, whether any token chose it: [1] bool */
function usedExperts(scope: LayerScope, config: ExpertsConfig, chosen: string): readonly string[] {
  const { graph, index } = scope
  const { expertCount } = config
  const none = graph.constant(`no_experts_${expertCount}`, 'i64', [expertCount], new BigInt64Array(expertCount))
  const flat = graph.op('Reshape', [chosen, graph.ints([-1])])
  const ones = graph.op('Add', [graph.op('Mul', [flat, graph.ints([0])]), graph.ints([1])])
  const marked = graph.op('ScatterElements', [none, flat, ones], { attributes: { axis: { int: 0 } } })
  const isUsed = graph.op('Cast', [marked], { attributes: { to: { int: ONNX_DTYPE.bool } } })
  const outputs = Array.from({ length: expertCount }, (_, expert) => `uses_expert_${index}_${expert}`)
  graph.op('Split', [isUsed, graph.ints(outputs.map(() => 1))], { attributes: { axis: { int: 0 } }, outputs })
  return outputs
}

/** @returns per token its experts and their weights, [S, activeCount] each */
function route(
  scope: LayerScope,
  config: ExpertsConfig,
  rows: string,
): { readonly chosen: string; readonly weights: string } {
  const { graph, index } = scope
  const logits = wideLinear(scope, 'mlp.gate', rows)
  const shares = graph.op('Softmax', [logits], { attributes: { axis: { int: -1 } } })
  const outputs = [`expert_weights_${index}`, `experts_${index}`] as const
  graph.op('TopK', [shares, graph.ints([config.activeCount])], { attributes: { axis: { int: -1 } }, outputs })
  const [weights, chosen] = outputs
  if (!config.normalised) return { chosen, weights }
  const total = graph.op('ReduceSum', [weights, graph.ints([-1])], { attributes: { keepdims: { int: 1 } } })
  return { chosen, weights: graph.op('Div', [weights, total]) }
}

/** @returns the tokens that chose the expert, in order, and their weights [n, 1]; two unused places at the end */
function assigned(
  graph: OnnxGraph,
  routing: { readonly chosen: string; readonly weights: string; readonly unused: string; readonly expert: number },
): { readonly tokens: string; readonly shares: string } {
  const { chosen, weights, unused, expert } = routing
  const key = graph.constant(`expert_${expert}`, 'i64', [], BigInt64Array.of(BigInt(expert)))
  // NonZero gives [2, n]: tokens and places among the token's experts, row by row.
  const hits = graph.op('Transpose', [graph.op('NonZero', [graph.op('Equal', [chosen, key])])])
  const own = graph.op('Gather', [hits, graph.constant('first', 'i64', [], BigInt64Array.of(0n))], {
    attributes: { axis: { int: 1 } },
  })
  const shares = graph.op('Pad', [graph.op('GatherND', [weights, hits]), graph.ints([0, 2])])
  return {
    tokens: graph.op('Concat', [own, unused], { attributes: { axis: { int: 0 } } }),
    shares: graph.op('Unsqueeze', [shares, graph.ints([1])]),
  }
}
