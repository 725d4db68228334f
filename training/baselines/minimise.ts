/**
 * L-BFGS for smooth convex functions: the solver behind the logistic baselines. Pure; no state outlives a call.
 */

/** Value at `point`; writes the gradient (same length) into `gradient`. */
export type Objective = (point: Float64Array, gradient: Float64Array) => number

export interface MinimiseOptions {
  /** Stop when max |gradient| <= tolerance * max(1, max |gradient at the start|). */
  readonly tolerance: number
  readonly maxIterations: number
}

export interface Minimum {
  readonly point: Float64Array
  readonly value: number
  readonly iterations: number
  readonly converged: boolean
}

/** Pairs of (step, gradient change) kept: Nocedal & Wright recommend 3 to 20. */
const MEMORY = 10
const ARMIJO = 1e-4
const MAX_HALVINGS = 40
/** Below this relative change of the value rounding decides: then the gradient does (approximate Wolfe, Hager & Zhang 2005). */
const VALUE_NOISE = 1e-12

interface Correction {
  readonly step: Float64Array
  readonly change: Float64Array
  readonly rho: number
}

/** Source: Nocedal & Wright, Numerical Optimization, algorithm 7.4 (two-loop recursion) with backtracking. */
export function minimise(objective: Objective, start: Float64Array, options: MinimiseOptions): Minimum {
  let point = Float64Array.from(start)
  let gradient = new Float64Array(point.length)
  let value = objective(point, gradient)
  const limit = options.tolerance * Math.max(1, maxAbs(gradient))
  const memory: Correction[] = []
  let iterations = 0
  while (iterations < options.maxIterations && maxAbs(gradient) > limit) {
    const direction = descentDirection(gradient, memory)
    const slope = dot(direction, gradient)
    const next = new Float64Array(point.length)
    const nextGradient = new Float64Array(point.length)
    let size = memory.length === 0 ? Math.min(1, 1 / Math.sqrt(dot(gradient, gradient))) : 1
    let nextValue = value
    let accepted = false
    for (let halving = 0; halving < MAX_HALVINGS && !accepted; halving++) {
      for (let i = 0; i < point.length; i++) next[i] = (point[i] ?? 0) + size * (direction[i] ?? 0)
      nextValue = objective(next, nextGradient)
      const decreases = nextValue <= value + ARMIJO * size * slope
      const flattens =
        nextValue <= value + VALUE_NOISE * Math.abs(value) &&
        Math.abs(dot(direction, nextGradient)) <= Math.abs(slope) / 2
      accepted = decreases || flattens
      if (!accepted) size /= 2
    }
    if (!accepted) break
    remember(memory, { point, next, gradient, nextGradient })
    point = next
    gradient = nextGradient
    value = nextValue
    iterations += 1
  }
  return { point, value, iterations, converged: maxAbs(gradient) <= limit }
}

function descentDirection(gradient: Float64Array, memory: readonly Correction[]): Float64Array {
  const direction = gradient.map((value) => -value)
  const alphas: number[] = []
  for (let k = memory.length - 1; k >= 0; k--) {
    const correction = memory[k]
    if (correction === undefined) continue
    const alpha = correction.rho * dot(correction.step, direction)
    alphas[k] = alpha
    addScaled(direction, correction.change, -alpha)
  }
  const latest = memory.at(-1)
  if (latest !== undefined) {
    const scale = 1 / (latest.rho * dot(latest.change, latest.change))
    for (let i = 0; i < direction.length; i++) direction[i] = (direction[i] ?? 0) * scale
  }
  memory.forEach((correction, k) => {
    const beta = correction.rho * dot(correction.change, direction)
    addScaled(direction, correction.step, (alphas[k] ?? 0) - beta)
  })
  return direction
}

function remember(
  memory: Correction[],
  move: {
    readonly point: Float64Array
    readonly next: Float64Array
    readonly gradient: Float64Array
    readonly nextGradient: Float64Array
  },
): void {
  const step = move.next.map((value, i) => value - (move.point[i] ?? 0))
  const change = move.nextGradient.map((value, i) => value - (move.gradient[i] ?? 0))
  const curvature = dot(step, change)
  if (curvature <= Number.EPSILON * dot(change, change)) return
  memory.push({ step, change, rho: 1 / curvature })
  if (memory.length > MEMORY) memory.shift()
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}

function addScaled(target: Float64Array, source: Float64Array, scale: number): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] ?? 0) + scale * (source[i] ?? 0)
}

function maxAbs(values: Float64Array): number {
  let max = 0
  for (const value of values) max = Math.max(max, Math.abs(value))
  return max
}
