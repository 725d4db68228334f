/** Which tensor of a GGUF file goes where in the checkpoint, and in which type it is stored. */
import { AppError } from '../../src/errors.ts'
import type { PlannedTensor } from '../safetensors-stream.ts'
import { hfPlace, ROPE_FACTORS } from './architectures.ts'
import type { GgufModel } from './config.ts'
import type { GgufTensor } from './header.ts'

export type TargetDtype = PlannedTensor['dtype']

export interface TensorPlan {
  readonly ggufName: string
  readonly name: string
  readonly tensor: GgufTensor
  readonly dtype: TargetDtype
  /** Heads whose rows are interleaved; null where rows stay as they are. */
  readonly interleavedHeads: number | null
  /** Rows that are read, decoded and written together; of interleaved tensors one head. */
  readonly rowsAtOnce: number
}

/** Weights decoded at a time: 4 MB of f32. */
const CHUNK_WEIGHTS = 1 << 20
/** No row of a real model, and no head of one, comes near; what is read at once stays under 256 MB of f32. */
const MAX_CHUNK_WEIGHTS = 1 << 26

/**
 * In name order. Every tensor of the file has a place, or the file is refused: one left out would give wrong hidden states.
 * @throws gguf-unsupported, gguf-invalid
 */
export function planTensors(options: {
  readonly file: string
  readonly model: GgufModel
  readonly tensors: ReadonlyMap<string, GgufTensor>
  readonly dtype: TargetDtype
}): readonly TensorPlan[] {
  const { file, model, tensors, dtype } = options
  const plans: TensorPlan[] = []
  for (const [ggufName, tensor] of tensors) {
    if (ggufName === ROPE_FACTORS) continue
    const place = hfPlace(ggufName)
    if (place === null)
      throw new AppError(
        'gguf-unsupported',
        `${file}: it holds tensor ${JSON.stringify(ggufName.slice(0, 80))}, which no supported ${model.architecture.name} model has: use the safetensors checkpoint`,
      )
    const { heads } = place
    const interleavedHeads =
      heads === null || !model.architecture.interleavedHeads
        ? null
        : heads === 'query'
          ? model.headCount
          : model.keyValueHeadCount
    const rows = tensor.shape[0] ?? 1
    if (interleavedHeads !== null && rows !== interleavedHeads * model.headSize)
      throw new AppError(
        'gguf-invalid',
        `${file}: tensor ${ggufName} has ${rows} rows, its metadata implies ${interleavedHeads} heads of ${model.headSize}`,
      )
    const rowSize = tensor.shape.slice(1).reduce((product, size) => product * size, 1)
    const whole = tensor.shape.length === 1
    const rowsAtOnce = interleavedHeads !== null ? model.headSize : whole ? rows : Math.ceil(CHUNK_WEIGHTS / rowSize)
    if (rowsAtOnce * rowSize > MAX_CHUNK_WEIGHTS)
      throw new AppError(
        'gguf-invalid',
        `${file}: tensor ${ggufName} has dimensions [${tensor.shape.join(', ')}]: no model has rows of that size`,
      )
    plans.push({ ggufName, name: place.name, tensor, dtype, interleavedHeads, rowsAtOnce })
  }
  return plans.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * The type of the matrices when none is asked for: that of the file where it is a float type throughout; f16 for quantised
 * ones, whose scales are f16 (rounding moves a weight by at most 2^-11 of itself, far less than quantising did).
 */
export function chooseDtype(tensors: Iterable<GgufTensor>): TargetDtype {
  const names = new Set<string>()
  for (const { type, shape } of tensors) if (shape.length > 1) names.add(type.name)
  if (names.has('F32') || (names.has('BF16') && names.size > 1)) return 'F32'
  return names.has('BF16') ? 'BF16' : 'F16'
}
