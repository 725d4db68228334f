/**
 * Temperature scaling with an offset: p = sigmoid((logit + offset) / temperature). The offset is needed because the loss
 * weighs READY (DESIGN section 8), which shifts every logit by about log w(1). Monotone: ranking and ties stay. Pure.
 */
import { requireSameLength } from './ranking.ts'

export interface LogitScale {
  /** > 0; above 1 = the raw scores were too sure. */
  readonly temperature: number
  readonly offset: number
}

/** Slopes 1 / temperature below this would mean that a higher logit is not more likely READY. */
const MIN_SLOPE = 1e-3
const ITERATIONS = 100
const TOLERANCE = 1e-10

/**
 * Maximum likelihood of slope a = 1 / T and intercept b = offset / T, by damped Newton on a convex loss.
 *   logits, labels  (n)
 *   returns         null when a class is missing: there is nothing to fit
 * Labels are pulled in by (n+ + 1) / (n+ + 2) and 1 / (n- + 2), so that separable pairs have a finite fit.
 * Source: Guo et al. 2017 (temperature), Platt 1999 (offset and label smoothing).
 */
export function fitTemperature(logits: ArrayLike<number>, labels: ArrayLike<number>): LogitScale | null {
  requireSameLength('fitTemperature', logits.length, { labels: labels.length })
  const n = logits.length
  let positives = 0
  for (let i = 0; i < n; i++) positives += labels[i] ?? 0
  if (positives === 0 || positives === n) return null
  const high = (positives + 1) / (positives + 2)
  const low = 1 / (n - positives + 2)
  const target = (i: number): number => (labels[i] === 1 ? high : low)
  let slope = 1
  let intercept = 0
  let loss = meanLoss(logits, target, slope, intercept)
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const step = newtonStep(logits, target, slope, intercept)
    let scale = 1
    let next = { slope, intercept, loss }
    for (; scale > 1e-9; scale /= 2) {
      const a = Math.max(MIN_SLOPE, slope - scale * step.slope)
      const b = intercept - scale * step.intercept
      next = { slope: a, intercept: b, loss: meanLoss(logits, target, a, b) }
      if (next.loss <= loss) break
    }
    if (!(next.loss < loss - TOLERANCE * Math.abs(loss))) break
    slope = next.slope
    intercept = next.intercept
    loss = next.loss
  }
  return { temperature: 1 / slope, offset: intercept / slope }
}

export function applyTemperature({ temperature, offset }: LogitScale, logit: number): number {
  return sigmoid((logit + offset) / temperature)
}

function meanLoss(logits: ArrayLike<number>, target: (i: number) => number, slope: number, intercept: number): number {
  let sum = 0
  for (let i = 0; i < logits.length; i++) {
    const z = slope * (logits[i] ?? 0) + intercept
    sum += Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - target(i) * z
  }
  return sum / logits.length
}

function newtonStep(
  logits: ArrayLike<number>,
  target: (i: number) => number,
  slope: number,
  intercept: number,
): { readonly slope: number; readonly intercept: number } {
  let ga = 0
  let gb = 0
  let haa = 1e-12
  let hab = 0
  let hbb = 1e-12
  for (let i = 0; i < logits.length; i++) {
    const x = logits[i] ?? 0
    const p = sigmoid(slope * x + intercept)
    const gap = p - target(i)
    const curvature = p * (1 - p)
    ga += gap * x
    gb += gap
    haa += curvature * x * x
    hab += curvature * x
    hbb += curvature
  }
  const determinant = haa * hbb - hab * hab
  // All logits alike: only the intercept can be fitted.
  if (determinant <= 1e-12 * haa * hbb) return { slope: 0, intercept: gb / hbb }
  return { slope: (hbb * ga - hab * gb) / determinant, intercept: (haa * gb - hab * ga) / determinant }
}

function sigmoid(z: number): number {
  return z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z))
}
