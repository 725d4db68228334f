/**
 * A decoder cut after layer L with the inputs and outputs that other ONNX runtimes' decoders have (transformers.js,
 * Optimum): `input_ids`, `attention_mask`, `past_key_values.N.key|value` in, `last_hidden_state`, `present.N.key|value`
 * out. The nodes between are those of our own graph, so that a comparison is about how it is called, not about operators.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { ModelProtoSchema, NodeProtoSchema } from 'onnx-buf'
import { AppError } from '../../src/errors.ts'
import type { Checkpoint } from '../frozen-lm/checkpoint.ts'
import { buildDecoderGraph, decoderStates } from '../frozen-lm/decoder-graph.ts'
import { DECODER_NAMES, ropeNames, type StateTensor } from '../frozen-lm/decoder-names.ts'
import { ropeTable } from '../frozen-lm/rope.ts'
import { writeOnnxModel } from './export-model.ts'
import { createOnnxGraph } from './onnx-graph.ts'

/** Rows of the rotary tables, which are part of the model: most tokens of one sequence. */
const MAX_POSITIONS = 16_384

/**
 * Writes `config.json`, the tokenizer's files and `onnx/model.onnx` with `onnx/model.onnx_data` into a directory that
 * transformers.js opens.
 * @param options.layer L >= 1
 * @throws architecture-unsupported (a layer that keeps more than keys and values), disk-full
 */
export function exportDecoder(
  checkpoint: Checkpoint,
  options: { readonly layer: number; readonly directory: string },
): void {
  const { layer, directory } = options
  mkdirSync(join(directory, 'onnx'), { recursive: true })
  const encoded = withStandardNames(checkpoint, layer)
  writeOnnxModel(encoded, { root: checkpoint.root, path: join(directory, 'onnx', 'model.onnx') })
  const config: unknown = JSON.parse(readFileSync(join(checkpoint.directory, 'config.json'), 'utf8'))
  const cut = { ...(config as Readonly<Record<string, unknown>>), num_hidden_layers: layer }
  writeFileSync(join(directory, 'config.json'), `${JSON.stringify(cut, null, 2)}\n`)
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    const source = join(checkpoint.directory, name)
    if (existsSync(source)) copyFileSync(source, join(directory, name))
  }
}

function withStandardNames(checkpoint: Checkpoint, layer: number): Uint8Array {
  const { config } = checkpoint
  const states = decoderStates(config, layer).map((state) => ({ ...state, ...cacheNames(state, checkpoint) }))
  const core = fromBinary(ModelProtoSchema, buildDecoderGraph(checkpoint, layer))
  const inner = core.graph
  if (inner === undefined) throw new AppError('invariant', 'an encoded decoder has a graph')

  // What stands around the decoder: a graph of its own, whose outputs are the decoder's inputs and the other way round.
  const graph = createOnnxGraph(inner.name)
  graph.input('input_ids', 'i64', [1, 'S'])
  graph.input('attention_mask', 'i64', [1, 'T'])
  const { tokens, rows, lastPosition, totalTokens, firstPosition, keptTokens, hidden } = DECODER_NAMES
  const used = new Set(inner.input.map((input) => input.name))
  const named = (output: string): { readonly outputs: readonly string[] } => ({ outputs: [output] })
  const lengthOf = (input: string): string => {
    const shape = graph.op('Shape', [input])
    return graph.op('Gather', [shape, graph.ints([1])], { attributes: { axis: { int: 0 } } })
  }
  const scalar = (value: string): string => graph.op('Squeeze', [value, graph.ints([0])])
  const i32 = { attributes: { to: { int: 6 } } }
  const count = lengthOf('input_ids')
  const total = lengthOf('attention_mask')
  graph.op('Identity', ['input_ids'], named(tokens))
  graph.op('Range', [scalar(graph.ints([0])), scalar(count), scalar(graph.ints([1]))], named(rows))
  const wiring: readonly (readonly [name: string, add: () => void])[] = [
    [totalTokens, () => graph.op('Cast', [scalar(total)], { ...i32, ...named(totalTokens) })],
    [
      lastPosition,
      () => graph.op('Cast', [graph.op('Sub', [total, graph.ints([1])])], { ...i32, ...named(lastPosition) }),
    ],
    [firstPosition, () => graph.op('Sub', [total, count], named(firstPosition))],
    [keptTokens, () => graph.op('Identity', [count], named(keptTokens))],
  ]
  for (const [name, add] of wiring) if (used.has(name)) add()
  for (const [index, { rope, rotarySize }] of config.ropes.entries()) {
    const names = ropeNames(index)
    if (!used.has(names.cos)) continue
    const positions = Math.min(MAX_POSITIONS, config.contextLength)
    const table = ropeTable({ rope, headSize: rotarySize, rows: positions })
    graph.constant(names.cos, 'f32', [positions, rotarySize / 2], table.cos)
    graph.constant(names.sin, 'f32', [positions, rotarySize / 2], table.sin)
  }
  for (const state of states) {
    graph.input(state.pastName, 'f32', dims(state, 'P'))
    graph.op('Identity', [state.pastName], named(state.past))
  }
  graph.output('last_hidden_state', 'f32', [1, 'S', config.hiddenSize])
  for (const state of states) graph.output(state.presentName, 'f32', dims(state, 'T'))
  const outer = fromBinary(ModelProtoSchema, graph.encode())
  const ends = [
    node('Unsqueeze', [hidden, graph.ints([0])], 'last_hidden_state'),
    ...states.map((state) => node('Identity', [state.present], state.presentName)),
  ]
  // ints([0]) is in use before the graph is encoded, so the last node finds it.
  inner.node = [...(outer.graph?.node ?? []), ...inner.node, ...ends.map((end) => create(NodeProtoSchema, end))]
  inner.initializer = [...inner.initializer, ...(outer.graph?.initializer ?? [])].filter(
    (tensor, index, all) => all.findIndex((other) => other.name === tensor.name) === index,
  )
  inner.input = outer.graph?.input ?? []
  inner.output = outer.graph?.output ?? []
  for (const [index, entry] of inner.node.entries()) entry.name = `node_${index}`
  return toBinary(ModelProtoSchema, renameGenerated(core, outer))
}

type Model = ReturnType<typeof fromBinary<typeof ModelProtoSchema>>

/** Both graphs number their nodes' outputs from 1: those of the outer one get a prefix. */
function renameGenerated(core: Model, outer: Model): Model {
  const generated = /^(Shape|Gather|Squeeze|Sub)_\d+$/
  for (const entry of outer.graph?.node ?? []) {
    entry.input = entry.input.map((name) => (generated.test(name) ? `outer_${name}` : name))
    entry.output = entry.output.map((name) => (generated.test(name) ? `outer_${name}` : name))
  }
  return core
}

function node(opType: string, input: readonly string[], output: string): MessageInitShape<typeof NodeProtoSchema> {
  return { opType, input: [...input], output: [output] }
}

function dims(state: StateTensor, grows: string): readonly (number | string)[] {
  return state.shape.map((size) => (size === 'P' ? grows : size))
}

function cacheNames(
  state: StateTensor,
  checkpoint: Checkpoint,
): { readonly pastName: string; readonly presentName: string } {
  const [, kind, index] = /^past_(key|value)_(\d+)$/.exec(state.past) ?? []
  if (kind === undefined)
    throw new AppError(
      'architecture-unsupported',
      `${checkpoint.directory} cannot be exported: ${state.past} is neither keys nor values, and other runtimes have no name for it`,
    )
  return { pastName: `past_key_values.${index}.${kind}`, presentName: `present.${index}.${kind}` }
}
