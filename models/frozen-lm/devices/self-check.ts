/**
 * Before a device other than the CPU computes anything for a user, it computes a small random decoder with the same
 * kinds of layers as the model, and so the same kernels, and its rows must be those of the CPU. Sequences are longer
 * than 64 tokens: one WebGPU driver was right up to 16 and wrong from 32 on (reference/frozen-lm.md, section 7).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError, invariant } from '../../../src/errors.ts'
import { createRng } from '../../../src/rng.ts'
import type { Checkpoint } from '../checkpoint.ts'
import type { DecoderConfig } from '../decoder.ts'
import type { Device, FrozenLm } from '../port.ts'
import { shrinkDecoder, writeRandomDecoder } from './small-decoder.ts'

/** Rows at position 0, and a target behind them. */
export const SELF_CHECK_TOKENS = { prefix: 96, target: 80 } as const

/**
 * max |a - b| / max |b| of a row. float32 with another order of summation: 6e-6 measured at most (SwiftShader, 17 random
 * models), so 1e-4 leaves room for GPUs and none for TF32 (1e-3) or a wrong kernel (1e-1).
 */
export const SELF_CHECK_TOLERANCE = 1e-4

/** Opens the checkpoint, cut after `layer`, on the device or on the CPU. */
export type OpenOn = (device: Device, checkpoint: Checkpoint, layer: number) => Promise<FrozenLm>

/**
 * @param model the decoder that is to run, and the layer it is cut after
 * @returns the largest row error
 * @throws device-self-check-failed, and what `open` throws
 */
export async function selfCheckDevice(check: {
  readonly device: Device
  readonly model: { readonly config: DecoderConfig; readonly layer: number }
  readonly open: OpenOn
}): Promise<number> {
  const { device, model, open } = check
  const folder = mkdtempSync(join(tmpdir(), 'keepready-self-check-'))
  try {
    const config = shrinkDecoder(model.config, model.layer)
    const checkpoint = writeRandomDecoder({ config, folder, seed: 1 })
    const expected = await rowsOn('cpu', checkpoint, open)
    const actual = await rowsOn(device, checkpoint, open)
    return compare({ device, expected, actual, cols: config.hiddenSize })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function rowsOn(device: Device, checkpoint: Checkpoint, open: OpenOn): Promise<Float32Array> {
  const lm = await open(device, checkpoint, checkpoint.config.layerCount)
  try {
    const rng = createRng(2)
    const draw = (length: number): Int32Array =>
      Int32Array.from({ length }, () => rng.nextBelow(lm.info.vocabularySize))
    const all = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
    const { prefix, target } = SELF_CHECK_TOKENS
    const shared = await lm.prefill(draw(prefix), { past: null, rows: all(prefix), keepState: true })
    const past = invariant(shared.state, 'the state was asked for')
    const behind = await lm.prefill(draw(target), { past, rows: all(target), keepState: false })
    lm.dispose(past)
    const rows = new Float32Array(shared.hidden.data.length + behind.hidden.data.length)
    rows.set(shared.hidden.data)
    rows.set(behind.hidden.data, shared.hidden.data.length)
    return rows
  } finally {
    await lm.close()
  }
}

function compare(run: {
  readonly device: Device
  readonly expected: Float32Array
  readonly actual: Float32Array
  readonly cols: number
}): number {
  const { device, expected, actual, cols } = run
  let worst = 0
  let worstRow = 0
  for (let row = 0; row < expected.length / cols; row++) {
    const error = rowError(
      actual.subarray(row * cols, (row + 1) * cols),
      expected.subarray(row * cols, (row + 1) * cols),
    )
    if (error > worst) [worst, worstRow] = [error, row]
  }
  if (worst <= SELF_CHECK_TOLERANCE) return worst
  const { prefix, target } = SELF_CHECK_TOKENS
  throw new AppError(
    'device-self-check-failed',
    `device ${device} computes something else than the CPU: row ${worstRow} of ${prefix} + ${target} tokens differs by ${worst.toExponential(1)} of its largest value, the limit is ${SELF_CHECK_TOLERANCE.toExponential(0)}. Update the driver, or use --device cpu${device === 'cuda' ? '; differences around 1e-3 are TF32 products, which NVIDIA_TF32_OVERRIDE=0 turns off' : ''}`,
    { details: { device, row: worstRow, error: worst, limit: SELF_CHECK_TOLERANCE } },
  )
}

/** Infinity where anything is not finite, or nothing came. */
function rowError(actual: Float32Array, expected: Float32Array): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY
  let difference = 0
  let scale = 0
  for (let i = 0; i < expected.length; i++) {
    const value = actual[i] ?? Number.NaN
    if (!Number.isFinite(value)) return Number.POSITIVE_INFINITY
    difference = Math.max(difference, Math.abs(value - (expected[i] ?? 0)))
    scale = Math.max(scale, Math.abs(expected[i] ?? 0))
  }
  return difference / scale
}
