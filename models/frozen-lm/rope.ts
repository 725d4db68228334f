/**
 * Rotary position tables. Frequencies, angles, cosines and sines are rounded to f32 at every step, as transformers
 * computes them: at position 1,500 the rounding of an angle is larger than the tolerance of the golden hidden states.
 */

export type RopeConfig =
  | { readonly kind: 'default'; readonly theta: number }
  | { readonly kind: 'linear'; readonly theta: number; readonly factor: number }
  | {
      readonly kind: 'llama3'
      readonly theta: number
      readonly factor: number
      readonly lowFrequencyFactor: number
      readonly highFrequencyFactor: number
      readonly originalContextLength: number
    }
  | {
      readonly kind: 'yarn'
      readonly theta: number
      readonly factor: number
      readonly betaFast: number
      readonly betaSlow: number
      readonly originalContextLength: number
      readonly attentionFactor: number
    }
  | {
      /** LongRoPE (arXiv 2402.13753) once its factors are chosen: one divisor for each frequency. */
      readonly kind: 'factors'
      readonly theta: number
      /** (headSize / 2) */
      readonly factors: readonly number[]
      readonly attentionFactor: number
    }

export interface RopeTable {
  /** (rows, headSize / 2) f32 row-major; row = position. */
  readonly cos: Float32Array
  readonly sin: Float32Array
}

const f32 = Math.fround

/** @returns tables for positions 0 .. rows - 1 */
export function ropeTable(options: {
  readonly rope: RopeConfig
  readonly headSize: number
  readonly rows: number
}): RopeTable {
  const { rope, headSize, rows } = options
  const frequencies = inverseFrequencies(rope, headSize)
  const half = frequencies.length
  const scale = rope.kind === 'yarn' || rope.kind === 'factors' ? f32(rope.attentionFactor) : 1
  const cos = new Float32Array(rows * half)
  const sin = new Float32Array(rows * half)
  for (let position = 0; position < rows; position++) {
    for (let i = 0; i < half; i++) {
      const angle = f32(position * (frequencies[i] ?? 0))
      cos[position * half + i] = f32(Math.cos(angle)) * scale
      sin[position * half + i] = f32(Math.sin(angle)) * scale
    }
  }
  return { cos, sin }
}

/** Radians per position of each pair of dimensions; (headSize / 2) f32. */
function inverseFrequencies(rope: RopeConfig, headSize: number): Float32Array {
  const base = new Float32Array(headSize / 2)
  for (let i = 0; i < base.length; i++) base[i] = 1 / f32(f32(rope.theta) ** f32((2 * i) / headSize))
  switch (rope.kind) {
    case 'default':
      return base
    case 'linear':
      return base.map((frequency) => frequency / rope.factor)
    case 'llama3':
      return base.map((frequency) => llama3Frequency(frequency, rope))
    case 'factors':
      return base.map((frequency, i) => 1 / f32(f32(rope.factors[i] ?? Number.NaN) * f32(1 / frequency)))
    case 'yarn':
      return base.map((frequency, i) => yarnFrequency(frequency, i, rope, headSize))
    default:
      return rope satisfies never
  }
}

/** Llama 3.1: long wavelengths are stretched by `factor`, short ones kept, a linear blend between. */
function llama3Frequency(frequency: number, rope: RopeConfig & { readonly kind: 'llama3' }): number {
  const wavelength = (2 * Math.PI) / frequency
  if (wavelength > rope.originalContextLength / rope.lowFrequencyFactor) return frequency / rope.factor
  if (wavelength < rope.originalContextLength / rope.highFrequencyFactor) return frequency
  const kept =
    (rope.originalContextLength / wavelength - rope.lowFrequencyFactor) /
    (rope.highFrequencyFactor - rope.lowFrequencyFactor)
  return (1 - kept) * (frequency / rope.factor) + kept * frequency
}

/** YaRN (arXiv 2309.00071, section 3.2): a ramp over dimensions between betaFast and betaSlow rotations. */
function yarnFrequency(
  frequency: number,
  index: number,
  rope: RopeConfig & { readonly kind: 'yarn' },
  headSize: number,
): number {
  const dimensionOf = (rotations: number): number =>
    (headSize * Math.log(rope.originalContextLength / (rotations * 2 * Math.PI))) / (2 * Math.log(rope.theta))
  const low = Math.max(0, Math.floor(dimensionOf(rope.betaFast)))
  const high = Math.min(headSize - 1, Math.ceil(dimensionOf(rope.betaSlow)))
  const stretched = Math.min(1, Math.max(0, (index - low) / (high === low ? 0.001 : high - low)))
  return stretched * (frequency / rope.factor) + (1 - stretched) * frequency
}
