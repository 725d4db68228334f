/**
 * Before a device other than the CPU computes anything for a user, it computes a small random decoder with the same
 * kinds of layers as the model, and so the same kernels, and its rows must be those of the CPU in float32. Sequences are
 * longer than 64 tokens: one WebGPU driver was right up to 16 and wrong from 32 on (reference/frozen-lm.md, section 7).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError, invariant } from '../../../src/errors.ts'
import { createRng } from '../../../src/rng.ts'
import type { Checkpoint } from '../checkpoint.ts'
import type { DecoderConfig } from '../decoder.ts'
import type { Precision } from '../execution.ts'
import type { Device, FrozenLm } from '../port.ts'
import { compareRows, type RowAgreement } from './row-agreement.ts'
import { shrinkDecoder, writeRandomDecoder } from './small-decoder.ts'

/** Rows at position 0, and a target behind them. */
export const SELF_CHECK_TOKENS = { prefix: 96, target: 80 } as const

/**
 * Largest error of a row, max |a - b| / max |b|.
 * f32  another order of summation: 6e-6 measured at most (SwiftShader, 17 random models), so 1e-4 leaves room for GPUs and
 *      none for TF32 (1e-3) or a wrong kernel (1e-1)
 * f16  11 bits of everything that is multiplied: 1.5e-3 measured at most on decoders 1,024 wide (eight families, this graph
 *      on the CPU, sums in float32), so 2e-2 leaves room for sums in float16 and none for a wrong kernel
 */
export const SELF_CHECK_LIMITS: Readonly<Record<Precision, number>> = { f32: 1e-4, f16: 2e-2 }

export interface SelfCheck extends RowAgreement {
  readonly device: Device
  readonly precision: Precision
  /** What `worst` may be. */
  readonly limit: number
}

/** Opens the checkpoint, cut after `layer`, on the device or on the CPU, there in float32. */
export type OpenOn = (device: Device, checkpoint: Checkpoint, layer: number) => Promise<FrozenLm>

/**
 * @param model the decoder that is to run, and the layer it is cut after
 * @throws device-self-check-failed, and what `open` throws
 */
export async function selfCheckDevice(check: {
  readonly device: Device
  readonly precision: Precision
  readonly model: { readonly config: DecoderConfig; readonly layer: number }
  readonly open: OpenOn
}): Promise<SelfCheck> {
  const { device, precision, model, open } = check
  const folder = mkdtempSync(join(tmpdir(), 'keepready-self-check-'))
  try {
    const config = shrinkDecoder(model.config, model.layer, precision)
    const checkpoint = writeRandomDecoder({ config, folder, seed: 1 })
    const expected = await rowsOn('cpu', checkpoint, open)
    const actual = await rowsOn(device, checkpoint, open)
    const agreement = compareRows({ actual, expected, cols: config.hiddenSize })
    return requireAgreement({ ...agreement, device, precision, limit: SELF_CHECK_LIMITS[precision] })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `device cuda, float16: rows differ from float32 on the CPU by ...`, for the start of a command. */
export function describeSelfCheck(check: SelfCheck): string {
  const { device, precision, worst, typical, lowestCosine, limit } = check
  const figures = `${worst.toExponential(1)} at most (limit ${limit.toExponential(0)}), ${typical.toExponential(1)} typically`
  return `device ${device}, ${precision}: rows of a small decoder of the same layers differ from f32 on the CPU by ${figures}; lowest cosine ${lowestCosine.toFixed(7)}`
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

function requireAgreement(check: SelfCheck): SelfCheck {
  const { device, precision, worst, worstRow, limit } = check
  if (worst <= limit) return check
  const { prefix, target } = SELF_CHECK_TOKENS
  const tf32 =
    device === 'cuda' && precision === 'f32'
      ? '; differences around 1e-3 are TF32 products, which NVIDIA_TF32_OVERRIDE=0 turns off'
      : ''
  const way = precision === 'f16' ? 'leave out --precision f16' : 'use --device cpu'
  throw new AppError(
    'device-self-check-failed',
    `device ${device} in ${precision} computes something else than the CPU: row ${worstRow} of ${prefix} + ${target} tokens differs by ${worst.toExponential(1)} of its largest value, the limit is ${limit.toExponential(0)}. Update the driver, or ${way}${tf32}`,
    { details: { device, precision, row: worstRow, error: worst, limit } },
  )
}
