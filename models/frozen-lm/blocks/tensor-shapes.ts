/** How a block says which tensors it reads: names within a layer, shapes, and where a checkpoint keeps several in one. */

export interface DecoderTensor {
  /** Name in a checkpoint of the plain layout: nothing fused. */
  readonly name: string
  readonly shape: readonly number[]
  /** Set where the checkpoint holds it as consecutive rows of a larger tensor; a row is what the last dimension spans. */
  readonly part: { readonly of: string; readonly whole: readonly number[]; readonly firstRow: number } | null
}

export function wholeTensor(name: string, shape: readonly number[]): DecoderTensor {
  return { name, shape, part: null }
}

/** Weight and, where there is one, bias of a linear map. */
export function* linearTensors(linear: {
  readonly name: string
  readonly outputs: number
  readonly inputs: number
  readonly bias: boolean
}): Generator<DecoderTensor> {
  const { name, outputs, inputs, bias } = linear
  yield wholeTensor(`${name}.weight`, [outputs, inputs])
  if (bias) yield wholeTensor(`${name}.bias`, [outputs])
}

/**
 * Linear maps of one input: each a tensor of its own or, where `fusedName` is given, one below the other in a single
 * tensor, whose rows are then read in place as if they were tensors of their own.
 * @param maps name -> outputs, in the order of the rows
 */
export function* parallelTensors(parallel: {
  readonly maps: Readonly<Record<string, number>>
  readonly fusedName: string | null
  readonly inputs: number
  readonly bias: boolean
}): Generator<DecoderTensor> {
  const { maps, fusedName, inputs, bias } = parallel
  const rows = Object.values(maps).reduce((sum, outputs) => sum + outputs, 0)
  let firstRow = 0
  for (const [name, outputs] of Object.entries(maps)) {
    for (const tensor of linearTensors({ name, outputs, inputs, bias })) {
      const of = tensor.name.replace(name, fusedName ?? name)
      yield fusedName === null ? tensor : { ...tensor, part: { of, whole: [rows, ...tensor.shape.slice(1)], firstRow } }
    }
    firstRow += outputs
  }
}
