/**
 * config.json of a Hugging Face checkpoint -> DecoderConfig, by the family that builds its architecture. A multimodal
 * wrapper is read for its text part (`text_config`). What we do not implement is refused, never guessed.
 */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { readFields } from './config-fields.schema.ts'
import type { DecoderConfig } from './decoder.ts'
import type { ConfigSource } from './families/config-source.ts'
import type { Family } from './families/family.ts'
import { FAMILIES, SUPPORTED_ARCHITECTURES } from './families/registry.ts'

const HEAD = { architectures: z.tuple([z.string()], z.string()) }
const WRAPPER = {
  text_config: z.looseObject({ model_type: z.string().nullish() }).nullish(),
  dtype: z.string().nullish(),
  torch_dtype: z.string().nullish(),
  quantization_config: z.unknown().optional(),
  tie_word_embeddings: z.boolean().nullish(),
}
const INDEX = { weight_map: z.record(z.string(), z.string()) }

/**
 * @param value parsed config.json
 * @param path where it stood, for messages
 * @param viewTokens of the longest view that will be read; Infinity for the model's whole context
 * @throws config-invalid, architecture-unsupported
 */
export function parseDecoderConfig(
  value: unknown,
  path: string,
  viewTokens: number = Number.POSITIVE_INFINITY,
): DecoderConfig {
  const architecture = readFields(HEAD, value, path).architectures[0]
  const { text_config: text, ...outer } = readFields(WRAPPER, value, path)
  const family = text === null || text === undefined ? byArchitecture(architecture) : byModelType(text.model_type)
  if (family === undefined) {
    const part = text === null || text === undefined ? '' : ` (text part: ${text.model_type ?? 'of no model_type'})`
    throw new AppError(
      'architecture-unsupported',
      `${path}: architecture ${architecture}${part} is not supported; supported are ${SUPPORTED_ARCHITECTURES.join(', ')}`,
      { details: { architecture, supported: SUPPORTED_ARCHITECTURES } },
    )
  }
  const fields = text === null || text === undefined ? value : { ...outer, ...text }
  const refuse = (message: string): AppError => new AppError('config-invalid', `${path}: ${message}`)
  const source: ConfigSource = { viewTokens, architecture, read: (shape) => readFields(shape, fields, path), refuse }
  return family.describe(source)
}

/**
 * @returns tensor name -> file name of model.safetensors.index.json
 * @throws config-invalid
 */
export function parseShardIndex(value: unknown, path: string): ReadonlyMap<string, string> {
  return new Map(Object.entries(readFields(INDEX, value, path).weight_map))
}

/** A model saved without its head (`Qwen3Model`) is the same decoder. */
function byArchitecture(name: string): Family | undefined {
  const withHead = name.replace(/Model$/, 'ForCausalLM')
  return FAMILIES.find((family) => family.architectures.includes(withHead))
}

function byModelType(modelType: string | null | undefined): Family | undefined {
  return FAMILIES.find((family) => family.modelTypes.includes(modelType ?? ''))
}
