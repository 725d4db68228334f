/**
 * The tensors of a router by name: the order in which files, optimiser memory and gradients hold them.
 */
import { AppError, invariant } from '../../src/errors.ts'
import { type BlockName, blockSize, INPUT_BLOCKS, type RouterParameters, type RouterSpec } from './spec.ts'

export type TensorName = `weights.${BlockName}` | 'b1' | 'w2' | 'b2'

export interface TensorSpec {
  readonly name: TensorName
  readonly shape: readonly number[]
  /** Product of shape. */
  readonly size: number
  /** Biases take no weight decay (DESIGN section 8). */
  readonly isBias: boolean
}

export function blocksOf(spec: RouterSpec): readonly BlockName[] {
  return INPUT_BLOCKS[spec.inputs]
}

/** Columns of the first layer: H, or 1 for logistic regression. */
export function firstLayerColumns(spec: RouterSpec): number {
  return Math.max(1, spec.width)
}

/** Every tensor of a spec; width 0 has no b1 and no w2. */
export function tensorsOf(spec: RouterSpec): readonly TensorSpec[] {
  const columns = firstLayerColumns(spec)
  const weights = blocksOf(spec).map((block): TensorSpec => {
    const rows = blockSize(spec, block)
    if (rows < 1)
      throw new AppError('invariant', `router inputs ${spec.inputs} need a size of at least 1 for block ${block}`)
    return { name: `weights.${block}`, shape: [rows, columns], size: rows * columns, isBias: false }
  })
  const hidden: readonly TensorSpec[] =
    spec.width === 0
      ? []
      : [
          { name: 'b1', shape: [spec.width], size: spec.width, isBias: true },
          { name: 'w2', shape: [spec.width], size: spec.width, isBias: false },
        ]
  return [...weights, ...hidden, { name: 'b2', shape: [1], size: 1, isBias: true }]
}

/** The array of one tensor. @throws invariant if the parameters belong to another spec */
export function tensorOf(parameters: RouterParameters, name: TensorName): Float32Array {
  if (name === 'b1' || name === 'w2' || name === 'b2') return parameters[name]
  const block = name.slice('weights.'.length) as BlockName
  return invariant(parameters.weights[block], `parameters hold ${name}`)
}

/** Parameters whose tensors come from `make`; what a spec does not have is an empty array. */
export function buildParameters(spec: RouterSpec, make: (tensor: TensorSpec) => Float32Array): RouterParameters {
  const weights: Partial<Record<BlockName, Float32Array>> = {}
  const rest: Record<'b1' | 'w2' | 'b2', Float32Array> = {
    b1: new Float32Array(0),
    w2: new Float32Array(0),
    b2: new Float32Array(0),
  }
  for (const tensor of tensorsOf(spec)) {
    const values = make(tensor)
    if (values.length !== tensor.size)
      throw new AppError('invariant', `${tensor.name} has ${values.length} values, the spec needs ${tensor.size}`)
    if (tensor.name === 'b1' || tensor.name === 'w2' || tensor.name === 'b2') rest[tensor.name] = values
    else weights[tensor.name.slice('weights.'.length) as BlockName] = values
  }
  return { weights, ...rest }
}

export function copyParameters(spec: RouterSpec, parameters: RouterParameters): RouterParameters {
  return buildParameters(spec, (tensor) => Float32Array.from(tensorOf(parameters, tensor.name)))
}

/** Number of trainable values. */
export function parameterCount(spec: RouterSpec): number {
  return tensorsOf(spec).reduce((sum, tensor) => sum + tensor.size, 0)
}
