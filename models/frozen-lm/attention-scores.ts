/**
 * Attention that holds its scores in memory, heads x queries x keys at a time: soft-capped layers on the CPU, whose kernel
 * leaves its flash path for the tanh, and every layer in plain operators. Whole views would make that quadratic (8 heads,
 * 4,096 tokens: 537 MB measured), so their runs are cut, with the same bits on the CPU (bounded-runs.ts): 168 MB at 512
 * tokens a run, for the same CPU time.
 */
import type { DecoderConfig } from './decoder.ts'
import type { GraphVariant } from './graph-variant.ts'

export interface ScoreBound {
  /** Of one query over one key, all heads of the widest such layer. */
  readonly pairBytes: number
  /** Most bytes of scores of one run. */
  readonly mostBytes: number
}

const FLOAT_BYTES = 4
/** Plain operators are for devices with memory of their own, which short runs would idle. */
const MOST_BYTES = { fused: 2 ** 27, plain: 2 ** 30 } as const
/** Shorter runs are no matrix products worth their name. */
const LEAST_TOKENS = 64

/** @returns null where no layer below the cut holds its scores */
export function scoreBound(
  config: DecoderConfig,
  layer: number,
  operators: GraphVariant['operators'],
): ScoreBound | null {
  const heads = config.layers
    .slice(0, layer)
    .flatMap(({ mixer }) =>
      mixer.kind === 'attention' && (operators === 'plain' || mixer.softCap !== null) ? [mixer] : [],
    )
    .reduce((most, { headCount }) => Math.max(most, headCount), 0)
  return heads === 0 ? null : { pairBytes: FLOAT_BYTES * heads, mostBytes: MOST_BYTES[operators] }
}

/**
 * @param keys tokens that the last query of the run attends to
 * @returns most tokens of one run; a multiple of 64, which divides what attention works in
 */
export function boundedTokens({ pairBytes, mostBytes }: ScoreBound, keys: number): number {
  return Math.max(1, Math.floor(mostBytes / pairBytes / keys / LEAST_TOKENS)) * LEAST_TOKENS
}
