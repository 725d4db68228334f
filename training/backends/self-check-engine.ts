/**
 * Before an engine on a GPU trains for a user, it differentiates a small random batch of the same kind of router, and
 * loss, gradients and logits must be those of ort-cpu.
 */
import { initialiseRouter } from '../../models/router/initialise.ts'
import { tensorOf, tensorsOf } from '../../models/router/parameters.ts'
import type { RouterSpec } from '../../models/router/spec.ts'
import { AppError } from '../../src/errors.ts'
import { createRng, type Rng } from '../../src/rng.ts'
import type { Batch } from '../batch.ts'
import { dropoutMask } from '../dropout-mask.ts'
import { type BackendOptions, DEFAULT_ADAMW, type TrainerBackend } from './backend.ts'
import { type EngineName, REFERENCE_ENGINE } from './engine-names.ts'
import { createOrtBackend } from './ort.ts'
import { useMask } from './router-graph.ts'

/**
 * max |a - b| / max |b| of one tensor. Two engines in float32 differ by 4e-7 at most at full size (reference/trainer.md,
 * section 2); products in TF32 differ by about 1e-3.
 */
export const SELF_CHECK_TOLERANCE = 1e-5

/** Longer than the tiles of a matrix kernel, and no multiple of them. */
const SIZES = { hiddenSize: 97, width: 161, trajectories: 2, pairs: 70, rows: 33 } as const

export type OpenEngine = (options: BackendOptions) => Promise<TrainerBackend>

/**
 * @param check.spec the router that is to be trained; its kind is kept and its sizes are not
 * @returns the largest error
 * @throws engine-unavailable if it differs, and what `open` throws
 */
export async function selfCheckEngine(check: {
  readonly engine: EngineName
  readonly spec: RouterSpec
  readonly open: OpenEngine
}): Promise<number> {
  const spec: RouterSpec = {
    ...check.spec,
    hiddenSize: Math.min(check.spec.hiddenSize, SIZES.hiddenSize),
    width: Math.min(check.spec.width, SIZES.width),
  }
  const rng = createRng(1)
  const batch = randomBatch(spec, rng)
  const mask = useMask(spec) ? dropoutMask(batch.labels.length * spec.width, spec.dropout, rng) : null
  const options: BackendOptions = { spec, parameters: initialiseRouter(spec, 2), adamw: DEFAULT_ADAMW }
  const expected = await valuesOf(await createOrtBackend(options), { spec, batch, mask })
  const actual = await valuesOf(await check.open(options), { spec, batch, mask })
  let worst = { error: 0, what: '' }
  for (const [what, values] of expected) {
    const error = relativeError(actual.get(what) ?? [], values)
    if (error > worst.error) worst = { error, what }
  }
  if (worst.error <= SELF_CHECK_TOLERANCE) return worst.error
  throw new AppError(
    'engine-unavailable',
    `training engine ${check.engine} computes something else than ${REFERENCE_ENGINE}: ${worst.what} differs by ${worst.error.toExponential(1)} of its largest value, the limit is ${SELF_CHECK_TOLERANCE.toExponential(0)}. Differences around 1e-3 are TF32 products, which NVIDIA_TF32_OVERRIDE=0 in the environment turns off; otherwise update the driver, or use --backend ${REFERENCE_ENGINE}`,
    { details: { engine: check.engine, error: worst.error, limit: SELF_CHECK_TOLERANCE } },
  )
}

async function valuesOf(
  backend: TrainerBackend,
  input: { readonly spec: RouterSpec; readonly batch: Batch; readonly mask: Float32Array | null },
): Promise<ReadonlyMap<string, ArrayLike<number>>> {
  try {
    const { loss, gradients } = await backend.gradients(input.batch, input.mask)
    const values = new Map<string, ArrayLike<number>>([
      ['the loss', [loss]],
      ['logits', await backend.logits(input.batch)],
    ])
    for (const { name } of tensorsOf(input.spec)) values.set(`the gradient of ${name}`, tensorOf(gradients, name))
    return values
  } finally {
    await backend.close()
  }
}

/** Its last pairs are padding. */
function randomBatch(spec: RouterSpec, rng: Rng): Batch {
  const { trajectories: T, pairs: P, rows } = SIZES
  const normal = (size: number): Float32Array => Float32Array.from({ length: size }, () => rng.nextNormal())
  const names = spec.inputs === 'evidence' ? [] : (['h', 'q', 'm'] as const)
  const blocks = names.map((name) => ({ name, rows, values: normal(T * rows * spec.hiddenSize) }))
  const N = rows * names.length
  const pairIndex = Int32Array.from({ length: T * P }, (_, row) => (row % P < P - 5 ? row : -1))
  const selection = new Float32Array(T * P * N)
  const selectionTransposed = new Float32Array(T * P * N)
  pairIndex.forEach((pair, row) => {
    if (pair < 0) return
    const t = Math.floor(row / P)
    for (let block = 0; block < names.length; block++) {
      const column = block * rows + rng.nextBelow(rows)
      selection[row * N + column] = 1
      selectionTransposed[(t * N + column) * P + (row % P)] = 1
    }
  })
  return {
    trajectories: T,
    pairs: P,
    blocks,
    selection,
    selectionTransposed,
    evidence: spec.evidenceSize === 0 ? null : normal(T * P * spec.evidenceSize),
    labels: Float32Array.from(pairIndex, (pair) => (pair % 10 === 0 ? 1 : 0)),
    weights: Float32Array.from(pairIndex, (pair) => (pair < 0 ? 0 : 1 / (T * P))),
    pairIndex,
  }
}

/** Infinity where anything is not finite, or nothing came. */
function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let difference = 0
  let scale = 0
  for (let i = 0; i < expected.length; i++) {
    const value = actual[i] ?? Number.NaN
    if (!Number.isFinite(value)) return Number.POSITIVE_INFINITY
    difference = Math.max(difference, Math.abs(value - (expected[i] as number)))
    scale = Math.max(scale, Math.abs(expected[i] as number))
  }
  return difference / scale
}
