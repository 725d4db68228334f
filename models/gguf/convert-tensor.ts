/** One tensor of a GGUF file as the bytes of a safetensors tensor, a bounded number of rows at a time. */
import { AppError } from '../../src/errors.ts'
import { encodeBf16, encodeF16 } from '../../src/tensor/half.ts'
import { firstNonFinite } from '../first-non-finite.ts'
import type { GgufTensor } from './header.ts'
import type { TargetDtype, TensorPlan } from './plan-tensors.ts'

/** @throws gguf-invalid, weights-not-finite, option-invalid (a weight does not fit the type) */
export function* convertTensor(plan: TensorPlan): Generator<Uint8Array> {
  for (const weights of decodeTensor(plan)) yield encode(weights, plan)
}

/**
 * Decoded weights in the order of the checkpoint, `rowsAtOnce` rows at a time.
 * @throws gguf-invalid, weights-not-finite
 */
export function* decodeTensor(plan: Pick<TensorPlan, 'ggufName' | 'tensor' | 'interleavedHeads' | 'rowsAtOnce'>) {
  const { tensor, ggufName, interleavedHeads, rowsAtOnce } = plan
  const { rows, rowSize } = matrixShape(tensor)
  for (let row = 0; row < rows; row += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, rows - row)
    const weights = readWeights(tensor, { first: row * rowSize, count: count * rowSize })
    const bad = firstNonFinite(weights)
    if (bad !== null)
      throw new AppError(
        'weights-not-finite',
        `${tensor.source.name}: tensor ${ggufName} holds ${weights[bad]} in row ${row + Math.floor(bad / rowSize)}: the file is damaged, get it again`,
      )
    yield interleavedHeads === null ? weights : deinterleaveHead(weights, rowSize)
  }
}

/** A vector is one block of rows of one weight: its blocks may cross what would be rows. */
function matrixShape(tensor: GgufTensor): { readonly rows: number; readonly rowSize: number } {
  const [rows = 1, ...inner] = tensor.shape
  return { rows, rowSize: inner.reduce((product, size) => product * size, 1) }
}

function readWeights(tensor: GgufTensor, range: { readonly first: number; readonly count: number }): Float32Array {
  const { type, source, offset } = tensor
  const start = (range.first / type.size) * type.sizeBytes
  const bytes = source.read(offset + start, (range.count / type.size) * type.sizeBytes)
  const out = new Float32Array(range.count)
  type.decode(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), out)
  return out
}

/**
 * llama.cpp rotates neighbouring dimensions, transformers the two halves of a head: row 2i + s of the file is row
 * s * half + i of the checkpoint.
 *   weights  (headSize, rowSize) f32 of one head
 */
function deinterleaveHead(weights: Float32Array, rowSize: number): Float32Array {
  const half = weights.length / rowSize / 2
  const out = new Float32Array(weights.length)
  for (let i = 0; i < half; i++)
    for (let side = 0; side < 2; side++) {
      const from = (2 * i + side) * rowSize
      out.set(weights.subarray(from, from + rowSize), (side * half + i) * rowSize)
    }
  return out
}

function encode(weights: Float32Array, plan: TensorPlan): Uint8Array {
  try {
    return bytesOf(weights, plan.dtype)
  } catch (cause) {
    throw new AppError(
      'option-invalid',
      `${plan.tensor.source.name}: tensor ${plan.ggufName} holds a weight that does not fit ${plan.dtype}: convert with --dtype f32`,
      { cause },
    )
  }
}

function bytesOf(weights: Float32Array, dtype: TargetDtype): Uint8Array {
  const data = dtype === 'F32' ? weights : dtype === 'F16' ? encodeF16(weights) : encodeBf16(weights)
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}
