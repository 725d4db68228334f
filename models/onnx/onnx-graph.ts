/**
 * Builds ONNX models in memory: the frozen decoder, the router's gradient graph and its scorer all come from here.
 * Knows protobuf encoding and nothing about models. No ONNX file is ever read from disk.
 */
import { create, toBinary } from '@bufbuild/protobuf'
import { ModelProtoSchema } from 'onnx-buf'

/** TensorProto.DataType, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
export const ONNX_DTYPE = { f32: 1, u8: 2, i8: 3, i32: 6, i64: 7, bool: 9, f16: 10, bf16: 16 } as const
export type OnnxDtype = keyof typeof ONNX_DTYPE

/** A number is a fixed size, a string a named dynamic one. */
export type Dimension = number | string

/** Integers and floats are different attribute types in ONNX, so the caller says which. */
export type AttributeValue =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }
  | { readonly branch: Branch }

/** AttributeProto.AttributeType */
const ATTRIBUTE_TYPE = { float: 1, int: 2, text: 3, branch: 5, ints: 7 } as const

/** A subgraph: its nodes read what stands before the node it belongs to; initializers stay with the whole graph. */
export interface Branch {
  readonly name: string
  readonly nodes: readonly object[]
  readonly outputs: readonly object[]
}

const OPSET = 17
const IR_VERSION = 10
const MICROSOFT_DOMAIN = 'com.microsoft'

export interface OpOptions {
  readonly attributes?: Readonly<Record<string, AttributeValue>>
  /** Names of the outputs; '' marks one that is not wanted. Default: one generated name. */
  readonly outputs?: readonly string[]
  /** Operator of onnxruntime's own domain (GroupQueryAttention, FusedMatMul, QuickGelu ...). */
  readonly microsoft?: boolean
}

/** Where an initializer's bytes lie in a file that the session maps instead of copying. */
export interface ExternalBytes {
  /** Path relative to the session's external-initializer folder. */
  readonly location: string
  readonly offset: number
  readonly sizeBytes: number
}

export interface OnnxGraph {
  input(name: string, dtype: OnnxDtype, shape: readonly Dimension[]): string
  output(name: string, dtype: OnnxDtype, shape: readonly Dimension[]): string
  /** Adds a node; returns the name of its first output. An input '' is an omitted optional one. */
  op(type: string, inputs: readonly string[], options?: OpOptions): string
  /**
   * Collects the nodes that `build` adds into a subgraph (`then_branch` of If) instead of the graph.
   * @param build returns the name of the branch's only output, f32 of a shape that is not declared
   */
  branch(build: () => string): AttributeValue
  /** Initializer with its bytes in the model. Adding a name twice keeps the first. */
  constant(name: string, dtype: OnnxDtype, shape: readonly number[], values: ArrayBufferView): string
  /** int64 vector initializer, named by its values. */
  ints(values: readonly number[]): string
  /** Scalar float32 initializer, named by its value. */
  scalar(value: number): string
  /** Initializer whose bytes stay in a file. Adding a name twice keeps the first. */
  external(name: string, dtype: OnnxDtype, shape: readonly number[], bytes: ExternalBytes): string
  /** The encoded ModelProto. @param metadata its metadata_props */
  encode(metadata?: Readonly<Record<string, string>>): Uint8Array
}

export function createOnnxGraph(name: string): OnnxGraph {
  let nodes: object[] = []
  const inputs: object[] = []
  const outputs: object[] = []
  const initializers = new Map<string, object>()
  let counter = 0

  const addInitializer = (key: string, build: () => object): string => {
    if (!initializers.has(key)) initializers.set(key, build())
    return key
  }
  const constant: OnnxGraph['constant'] = (key, dtype, shape, values) =>
    addInitializer(key, () => ({
      name: key,
      dataType: ONNX_DTYPE[dtype],
      dims: shape.map(BigInt),
      rawData: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
    }))

  return {
    input(key, dtype, shape) {
      inputs.push(valueInfo(key, dtype, shape))
      return key
    },
    output(key, dtype, shape) {
      outputs.push(valueInfo(key, dtype, shape))
      return key
    },
    op(type, nodeInputs, options = {}) {
      counter += 1
      const nodeOutputs = options.outputs ?? [`${type}_${counter}`]
      nodes.push({
        name: `${type}_${counter}`,
        opType: type,
        domain: options.microsoft === true ? MICROSOFT_DOMAIN : '',
        input: [...nodeInputs],
        output: [...nodeOutputs],
        attribute: Object.entries(options.attributes ?? {}).map(([key, value]) => attribute(key, value)),
      })
      return nodeOutputs[0] ?? ''
    },
    branch(build) {
      const outer = nodes
      nodes = []
      try {
        const output = build()
        counter += 1
        const type = { value: { case: 'tensorType', value: { elemType: ONNX_DTYPE.f32 } } }
        return { branch: { name: `branch_${counter}`, nodes, outputs: [{ name: output, type }] } }
      } finally {
        nodes = outer
      }
    },
    constant,
    ints: (values) => constant(`ints_${values.join('_')}`, 'i64', [values.length], BigInt64Array.from(values, BigInt)),
    scalar: (value) => constant(`scalar_${value}`, 'f32', [], Float32Array.of(value)),
    external: (key, dtype, shape, bytes) =>
      addInitializer(key, () => ({
        name: key,
        dataType: ONNX_DTYPE[dtype],
        dims: shape.map(BigInt),
        dataLocation: 1,
        externalData: [
          { key: 'location', value: bytes.location },
          { key: 'offset', value: String(bytes.offset) },
          { key: 'length', value: String(bytes.sizeBytes) },
        ],
      })),
    encode: (metadata = {}) =>
      toBinary(
        ModelProtoSchema,
        create(ModelProtoSchema, {
          irVersion: BigInt(IR_VERSION),
          producerName: 'keepready',
          opsetImport: [
            { domain: '', version: BigInt(OPSET) },
            { domain: MICROSOFT_DOMAIN, version: 1n },
          ],
          metadataProps: Object.entries(metadata).map(([key, value]) => ({ key, value })),
          graph: { name, node: nodes, initializer: [...initializers.values()], input: inputs, output: outputs },
        }),
      ),
  }
}

function valueInfo(name: string, dtype: OnnxDtype, shape: readonly Dimension[]): object {
  const dim = shape.map((size) => ({
    value: typeof size === 'string' ? { case: 'dimParam', value: size } : { case: 'dimValue', value: BigInt(size) },
  }))
  return { name, type: { value: { case: 'tensorType', value: { elemType: ONNX_DTYPE[dtype], shape: { dim } } } } }
}

function attribute(name: string, value: AttributeValue): object {
  if ('int' in value) return { name, type: ATTRIBUTE_TYPE.int, i: BigInt(value.int) }
  if ('float' in value) return { name, type: ATTRIBUTE_TYPE.float, f: value.float }
  if ('text' in value) return { name, type: ATTRIBUTE_TYPE.text, s: new TextEncoder().encode(value.text) }
  if ('branch' in value) {
    const { name: branchName, nodes, outputs } = value.branch
    return { name, type: ATTRIBUTE_TYPE.branch, g: { name: branchName, node: [...nodes], output: [...outputs] } }
  }
  return { name, type: ATTRIBUTE_TYPE.ints, ints: value.ints.map(BigInt) }
}
