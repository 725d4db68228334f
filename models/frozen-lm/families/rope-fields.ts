/** Rotary tables from config.json, in both spellings: `rope_parameters` (transformers 5), `rope_theta` + `rope_scaling`. */
import type { RopeConfigFields, RopeFields } from '../config-fields.schema.ts'
import type { RopeTableConfig } from '../decoder.ts'
import type { RopeConfig } from '../rope.ts'
import type { ConfigSource } from './config-source.ts'

const DEFAULT_THETA = 10000

interface RopeOptions {
  readonly headSize: number
  readonly contextLength: number
  /** Whether the family's attention leaves the dimensions beyond `partial_rotary_factor` as they are. */
  readonly partial?: boolean
  /** Where config.json has it beside the parameters instead of among them. */
  readonly originalContextLength?: number | null
}

/** The one table of a family whose layers all rotate alike. */
export function plainRope(source: ConfigSource, fields: RopeConfigFields, options: RopeOptions): RopeTableConfig {
  const parameters = fields.rope_parameters ?? fields.rope_scaling ?? {}
  return ropeTableConfig(source, {
    ...options,
    parameters,
    originalContextLength: fields.original_max_position_embeddings ?? null,
    theta: parameters.rope_theta ?? fields.rope_theta ?? DEFAULT_THETA,
    share: parameters.partial_rotary_factor ?? fields.partial_rotary_factor ?? 1,
  })
}

/**
 * @param table.share of each head that is rotated, 0 < share <= 1
 * @throws config-invalid for a kind of rope that is not implemented, or lacks what it needs
 */
export function ropeTableConfig(
  source: ConfigSource,
  table: RopeOptions & { readonly parameters: RopeFields; readonly theta: number; readonly share: number },
): RopeTableConfig {
  const { headSize, contextLength, share, partial = false } = table
  if (share > 1 || (share !== 1 && !partial))
    throw source.refuse(
      `partial_rotary_factor ${share} is not supported for ${source.architecture}, only ${partial ? '0 to 1' : '1'}`,
    )
  const rotarySize = Math.trunc(headSize * share)
  if (rotarySize < 2 || rotarySize % 2 !== 0)
    throw source.refuse(`rope rotates ${rotarySize} of the ${headSize} dimensions of a head: pairs are needed`)
  return { rotarySize, rope: ropeConfig(source, { ...table, rotarySize, contextLength }) }
}

interface RopeParts {
  readonly parameters: RopeFields
  readonly theta: number
  readonly rotarySize: number
  readonly contextLength: number
  readonly originalContextLength?: number | null
}

function ropeConfig(source: ConfigSource, table: RopeParts): RopeConfig {
  const { parameters, theta, contextLength } = table
  const kind = parameters.rope_type ?? parameters.type ?? 'default'
  const need = (value: number | undefined, field: string): number => {
    if (value === undefined) throw source.refuse(`rope of type ${kind} needs ${field}`)
    return value
  }
  // NTK scaling sets in beyond max_position_embeddings, where no view ends (context-too-short).
  if (kind === 'default' || kind === 'dynamic') return { kind: 'default', theta }
  if (kind === 'linear') return { kind, theta, factor: need(parameters.factor, 'factor') }
  if (kind === 'llama3')
    return {
      kind,
      theta,
      factor: need(parameters.factor, 'factor'),
      lowFrequencyFactor: need(parameters.low_freq_factor, 'low_freq_factor'),
      highFrequencyFactor: need(parameters.high_freq_factor, 'high_freq_factor'),
      originalContextLength: need(parameters.original_max_position_embeddings, 'original_max_position_embeddings'),
    }
  if (kind === 'yarn') {
    if (parameters.truncate === false) throw source.refuse('rope of type yarn with truncate false is not supported')
    const factor = need(parameters.factor, 'factor')
    return {
      kind,
      theta,
      factor,
      betaFast: parameters.beta_fast ?? 32,
      betaSlow: parameters.beta_slow ?? 1,
      originalContextLength: parameters.original_max_position_embeddings ?? contextLength,
      attentionFactor: parameters.attention_factor ?? yarnAttentionFactor(factor, parameters),
    }
  }
  // `su` is the name that Phi-3 was published with.
  if (kind === 'longrope' || kind === 'su') return longRope(source, table)
  throw source.refuse(`rope of type ${kind} is not supported, only default, linear, dynamic, llama3, yarn, longrope`)
}

/**
 * LongRoPE (arXiv 2402.13753): a divisor of its own for each frequency, from one list for sequences within the original
 * context and from another for longer ones. Token by token the choice would change what earlier tokens mean, so it is made
 * once, by the longest view: the same prefix is the same in all views.
 */
function longRope(source: ConfigSource, table: RopeParts): RopeConfig {
  const { parameters, theta, rotarySize, contextLength } = table
  if (typeof parameters.short_mscale === 'number' || typeof parameters.long_mscale === 'number')
    throw source.refuse('rope of type longrope with short_mscale or long_mscale is not supported')
  const original = table.originalContextLength ?? parameters.original_max_position_embeddings
  if (original === null || original === undefined)
    throw source.refuse('rope of type longrope needs original_max_position_embeddings')
  const isLong = Math.min(source.viewTokens, contextLength) > original
  const field = isLong ? 'long_factor' : 'short_factor'
  const factors = parameters[field]
  if (factors?.length !== rotarySize / 2)
    throw source.refuse(
      `rope of type longrope needs ${rotarySize / 2} numbers in ${field}, one for each rotated pair, not ${factors?.length ?? 'none'}`,
    )
  const growth =
    parameters.factor !== undefined && !table.originalContextLength ? parameters.factor : contextLength / original
  // Section 3.3; both lists share it.
  const temperature = growth <= 1 ? 1 : Math.sqrt(1 + Math.log(growth) / Math.log(original))
  return { kind: 'factors', theta, factors, attentionFactor: parameters.attention_factor ?? temperature }
}

/** YaRN's temperature (arXiv 2309.00071, eq. 22); DeepSeek's mscale pair replaces it where it is given. */
function yarnAttentionFactor(factor: number, parameters: RopeFields): number {
  const temperature = (scale: number): number => (factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1)
  const { mscale, mscale_all_dim: allDimensions } = parameters
  return mscale && allDimensions ? temperature(mscale) / temperature(allDimensions) : temperature(1)
}
