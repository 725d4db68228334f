/**
 * One run of a made dataset: its pairs with labels, and its vectors. Pure; the same spec and position give the same run.
 *   score(i, c) = signal u_i . v_c / sqrt(k) + memorable (b_run + b_i) + noise e;  READY where it exceeds a threshold
 *   h = offset o_h + A u_i + noise, q = offset o_q + B v_c + noise; A and B are the same for all runs, offsets are the run's
 */
import type { PairTable } from '../../data/store/dataset.ts'
import { createPairTable } from '../../data/store/pair-columns.ts'
import { type TrajectoryVectors, VECTOR_ROLES } from '../../data/store/trajectory-vectors.ts'
import { createRng, deriveSeed, type Rng } from '../../src/rng.ts'
import { encodeF16 } from '../../src/tensor/half.ts'
import { lengthAt, pairsOfLength, type SyntheticSpec } from './synthetic-spec.ts'

export const SYNTHETIC_EVIDENCE = ['age', 'relative-position', 'source-length'] as const
export const SYNTHETIC_TOP_K = 4

interface Latents {
  /** N. */
  readonly length: number
  /** (N, k) of interactions and of checkpoints. */
  readonly u: readonly Float64Array[]
  readonly v: readonly Float64Array[]
  /** Of each pair, in order of checkpoint and interaction. */
  readonly scores: Float64Array
}

/** Scores of all pairs of a run: thresholds are chosen from them. */
export function syntheticScores(spec: SyntheticSpec, trajectory: number): Float64Array {
  return latentsOf(spec, trajectory).scores
}

export interface RunPlace {
  readonly trajectory: number
  /** Row of its first vector in the whole table. */
  readonly firstRow: number
  /** Pairs above it are READY. */
  readonly threshold: number
}

export function syntheticPairs(spec: SyntheticSpec, place: RunPlace): PairTable {
  const { length, u, scores } = latentsOf(spec, place.trajectory)
  const rng = createRng(deriveSeed(spec.seed, 'tokens', place.trajectory))
  const tokens = Array.from({ length }, () => 40 + rng.nextBelow(800))
  const rows = rowPlan(spec, length)
  const table = createPairTable({
    count: pairsOfLength(length),
    topK: SYNTHETIC_TOP_K,
    evidenceSize: SYNTHETIC_EVIDENCE.length,
  })
  const boundary = new Int32Array(length).fill(-1)
  let pair = 0
  for (let c = 2; c < length; c++)
    for (let i = 0; i < c - 1; i++, pair++) {
      const ready = (scores[pair] as number) > place.threshold
      if (ready && boundary[i] === -1) boundary[i] = c
      table.trajectory[pair] = place.trajectory
      table.interaction[pair] = i
      table.checkpoint[pair] = c
      table.label[pair] = ready ? 1 : 0
      table.futureInteractions[pair] = length - c
      table.hRow[pair] = place.firstRow + rows.h(i, c)
      table.qRow[pair] = place.firstRow + rows.q(c)
      const nearest = nearestLatents(u, c - 1, i)
      for (let k = 0; k < SYNTHETIC_TOP_K; k++) {
        const j = nearest[k]
        table.topRows[pair * SYNTHETIC_TOP_K + k] = j === undefined ? -1 : place.firstRow + rows.h(j, c)
      }
      const sourceTokens = tokens[i] as number
      table.sourceTokens[pair] = sourceTokens
      table.actingTokens[pair] = sourceTokens
      table.viewTokens[pair] = sourceTokens + 640
      table.evidence.set([c - i, i / c, sourceTokens], pair * SYNTHETIC_EVIDENCE.length)
    }
  for (let p = 0; p < table.count; p++) table.boundary[p] = boundary[table.interaction[p] as number] as number
  return table
}

/** @returns the vectors of a run by its position */
export function syntheticVectors(spec: SyntheticSpec): (trajectory: number) => TrajectoryVectors {
  const directions = directionsOf(spec)
  return (trajectory) => vectorsOf(spec, directions, trajectory)
}

function vectorsOf(spec: SyntheticSpec, directions: Directions, trajectory: number): TrajectoryVectors {
  const { hiddenSize: d, seed } = spec
  const { length, u, v } = latentsOf(spec, trajectory)
  const rows = rowPlan(spec, length)
  const values = new Float32Array(rows.count * d)
  const rng = createRng(deriveSeed(seed, 'vectors', trajectory))
  const ownOffset = { h: normals(rng, d), q: normals(rng, d) }
  const none = (): Int32Array => new Int32Array(rows.count).fill(-1)
  const [checkpoint, role, interaction, viewTokens, sourceTokens] = [none(), none(), none(), none(), none()]
  rows.each((row, kind, i, c) => {
    checkpoint[row] = c
    role[row] = VECTOR_ROLES.indexOf(kind)
    interaction[row] = i
    viewTokens[row] = 640
    if (kind === 'h') sourceTokens[row] = 100
    const latent = (kind === 'h' ? u[i] : v[c]) ?? new Float64Array(0)
    const out = values.subarray(row * d, (row + 1) * d)
    addNoise(out, directions.noise, rng)
    const offset = ownOffset[kind]
    for (let k = 0; k < d; k++) out[k] = (out[k] as number) + spec.offset * (offset[k] as number)
    latent.forEach((strength, l) => {
      const direction = directions[kind][l] ?? out
      for (let k = 0; k < d; k++) out[k] = (out[k] as number) + strength * (direction[k] as number)
    })
  })
  return {
    rows: rows.count,
    cols: d,
    checkpoint,
    role,
    interaction,
    viewTokens,
    truncatedTokens: new Int32Array(rows.count),
    sourceTokens,
    values: spec.storageDtype === 'f16' ? encodeF16(values) : values,
  }
}

/** Rows of a run's vectors in the store's order: by checkpoint (none first), h before q, by interaction. */
export function rowPlan(
  { recipe }: Pick<SyntheticSpec, 'recipe'>,
  length: number,
): {
  readonly count: number
  h(interaction: number, checkpoint: number): number
  q(checkpoint: number): number
  each(visit: (row: number, role: 'h' | 'q', interaction: number, checkpoint: number) => void): void
} {
  const checkpoints = Math.max(0, length - 2)
  if (recipe === 'once')
    return {
      count: 2 * checkpoints,
      h: (interaction) => interaction,
      q: (checkpoint) => checkpoints + checkpoint - 2,
      each(visit) {
        for (let i = 0; i < checkpoints; i++) visit(i, 'h', i, -1)
        for (let c = 2; c < length; c++) visit(checkpoints + c - 2, 'q', -1, c)
      },
    }
  // Checkpoint c holds c - 1 targets and q(c): c rows, after 2 + 3 + ... + (c - 1) of earlier ones.
  const firstOf = (checkpoint: number): number => (checkpoint * (checkpoint - 1)) / 2 - 1
  return {
    count: firstOf(length),
    h: (interaction, checkpoint) => firstOf(checkpoint) + interaction,
    q: (checkpoint) => firstOf(checkpoint) + checkpoint - 1,
    each(visit) {
      for (let c = 2; c < length; c++) {
        for (let i = 0; i < c - 1; i++) visit(firstOf(c) + i, 'h', i, c)
        visit(firstOf(c) + c - 1, 'q', -1, c)
      }
    },
  }
}

function latentsOf(spec: SyntheticSpec, trajectory: number): Latents {
  const { latents, signal, memorable, noise } = spec
  const rng = createRng(deriveSeed(spec.seed, 'latents', trajectory))
  const length = lengthAt(spec.lengths, trajectory)
  const draw = (): readonly Float64Array[] =>
    Array.from({ length }, () => Float64Array.from({ length: latents }, () => rng.nextNormal()))
  const [u, v] = [draw(), draw()]
  const ofRun = rng.nextNormal()
  const ofInteraction = Float64Array.from({ length }, () => rng.nextNormal())
  const scores = new Float64Array(pairsOfLength(length))
  let pair = 0
  for (let c = 2; c < length; c++)
    for (let i = 0; i < c - 1; i++, pair++) {
      const product = dot(u[i] ?? new Float64Array(0), v[c] ?? new Float64Array(0)) / Math.sqrt(latents)
      scores[pair] = signal * product + memorable * (ofRun + (ofInteraction[i] as number)) + noise * rng.nextNormal()
    }
  return { length, u, v, scores }
}

/** The k of the pool [0, size) whose latents point most in the direction of i's; ties to the lower index. */
function nearestLatents(u: readonly Float64Array[], size: number, i: number): readonly number[] {
  const own = u[i] ?? new Float64Array(0)
  return Array.from({ length: size }, (_, j) => j)
    .filter((j) => j !== i)
    .map((j) => ({ j, cosine: dot(own, u[j] ?? own) / Math.sqrt(dot(u[j] ?? own, u[j] ?? own)) }))
    .sort((a, b) => b.cosine - a.cosine || a.j - b.j)
    .slice(0, SYNTHETIC_TOP_K)
    .map(({ j }) => j)
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let k = 0; k < a.length; k++) sum += (a[k] as number) * (b[k] as number)
  return sum
}

interface Directions {
  /** k vectors of length d each, the same for all runs. */
  readonly h: readonly Float32Array[]
  readonly q: readonly Float32Array[]
  /** Normal values to be read from a random place on: a draw for each of a billion values would take minutes. */
  readonly noise: Float32Array
}

const NOISE_TABLE = 1 << 18

function directionsOf({ seed, latents, hiddenSize }: SyntheticSpec): Directions {
  const rng = createRng(deriveSeed(seed, 'directions'))
  const draw = (): readonly Float32Array[] => Array.from({ length: latents }, () => normals(rng, hiddenSize))
  return { h: draw(), q: draw(), noise: normals(rng, NOISE_TABLE + hiddenSize) }
}

function normals(rng: Rng, size: number): Float32Array {
  return Float32Array.from({ length: size }, () => rng.nextNormal())
}

function addNoise(out: Float32Array, table: Float32Array, rng: Rng): void {
  const start = rng.nextBelow(NOISE_TABLE)
  for (let k = 0; k < out.length; k++) out[k] = table[start + k] as number
}
