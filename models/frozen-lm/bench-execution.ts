/**
 * What the ways to run a model cost and change: packed against mapped weights by CPU time, integer products by CPU time
 * and by how far their hidden states turn. Runs alternate within one process; ratios are medians over rounds.
 */
import { rowOf } from '../../src/tensor/matrix.ts'
import { readClock, since } from './bench-schedule.ts'
import { median, pairedRatio } from './bench-statistics.ts'
import type { Checkpoint } from './checkpoint.ts'
import { completeExecution, type Execution } from './execution.ts'
import type { FrozenLm } from './port.ts'
import { createSession } from './session.ts'
import { planSession } from './session-plan.ts'

export interface RunCost {
  readonly tokens: number
  /** CPU milliseconds of one run, medians. */
  readonly baseMs: number
  readonly otherMs: number
  /** Of the same round: other over base. */
  readonly ratio: number
}

export interface ExecutionPair {
  readonly checkpoint: Checkpoint
  readonly layer: number
  readonly base: Partial<Execution>
  readonly other: Partial<Execution>
}

export interface CompareHooks {
  readonly signal: AbortSignal
  readonly onStep: (what: string) => void
}

/** @param run.tokens at least as many as the longest length */
export async function compareCost(
  pair: ExecutionPair,
  run: { readonly lengths: readonly number[]; readonly rounds: number; readonly tokens: Int32Array },
  hooks: CompareHooks,
): Promise<readonly RunCost[]> {
  const [base, other] = await openPair(pair)
  try {
    const costs: RunCost[] = []
    for (const length of run.lengths) {
      const tokens = run.tokens.subarray(0, length)
      const taken: { readonly base: number[]; readonly other: number[] } = { base: [], other: [] }
      // The first run of each length pays for memory that later ones find there.
      for (let round = 0; round <= run.rounds; round++) {
        hooks.signal.throwIfAborted()
        hooks.onStep(`${length} tokens, round ${round}`)
        for (const [name, lm] of [
          ['base', base],
          ['other', other],
        ] as const) {
          const start = readClock()
          await lm.prefill(tokens, { past: null, rows: 'last', keepState: false })
          if (round > 0) taken[name].push(since(start).cpuMs)
        }
      }
      costs.push({
        tokens: length,
        baseMs: median(taken.base),
        otherMs: median(taken.other),
        ratio: pairedRatio(taken.other, taken.base),
      })
    }
    return costs
  } finally {
    await base.close()
    await other.close()
  }
}

export interface LayerAgreement {
  readonly layer: number
  /** Cosine of the hidden states of token 0, which carries an activation many times larger than all others. */
  readonly firstCosine: number
  /** Over all other tokens. */
  readonly meanCosine: number
  readonly lowestCosine: number
  /** Length of the difference over the length of the base's state, mean over the same tokens. */
  readonly meanError: number
}

/** Hidden states of every token after each of the layers; each layer is a session of its own. */
export async function compareHidden(
  pair: Omit<ExecutionPair, 'layer'>,
  run: { readonly layers: readonly number[]; readonly tokens: Int32Array },
  hooks: CompareHooks,
): Promise<readonly LayerAgreement[]> {
  const rows = Array.from(run.tokens, (_, i) => i)
  const agreements: LayerAgreement[] = []
  for (const layer of run.layers) {
    hooks.signal.throwIfAborted()
    hooks.onStep(`layer ${layer}`)
    const [base, other] = await openPair({ ...pair, layer })
    const [expected, actual] = await Promise.all(
      [base, other].map((lm) => lm.prefill(run.tokens, { past: null, rows, keepState: false })),
    )
    await base.close()
    await other.close()
    if (expected === undefined || actual === undefined) continue
    const compared = rows.map((row) => compareRows(rowOf(expected.hidden, row), rowOf(actual.hidden, row)))
    agreements.push({ layer, ...agreementOf(compared) })
  }
  return agreements
}

interface RowAgreement {
  readonly cosine: number
  readonly error: number
}

function agreementOf(rows: readonly RowAgreement[]): Omit<LayerAgreement, 'layer'> {
  const others = rows.slice(1)
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    firstCosine: rows[0]?.cosine ?? Number.NaN,
    meanCosine: mean(others.map(({ cosine }) => cosine)),
    lowestCosine: Math.min(...others.map(({ cosine }) => cosine)),
    meanError: mean(others.map(({ error }) => error)),
  }
}

function compareRows(expected: Float32Array, actual: Float32Array): RowAgreement {
  let product = 0
  let expectedSquare = 0
  let actualSquare = 0
  let differenceSquare = 0
  for (let i = 0; i < expected.length; i++) {
    const a = expected[i] ?? 0
    const b = actual[i] ?? 0
    product += a * b
    expectedSquare += a * a
    actualSquare += b * b
    differenceSquare += (a - b) ** 2
  }
  return {
    cosine: product / Math.sqrt(expectedSquare * actualSquare),
    error: Math.sqrt(differenceSquare / expectedSquare),
  }
}

async function openPair(pair: ExecutionPair): Promise<readonly [FrozenLm, FrozenLm]> {
  const { checkpoint, layer } = pair
  const open = (execution: Partial<Execution>): Promise<FrozenLm> =>
    createSession(checkpoint, layer, planSession(checkpoint, completeExecution(execution)))
  const base = await open(pair.base)
  try {
    return [base, await open(pair.other)]
  } catch (thrown) {
    await base.close()
    throw thrown
  }
}
