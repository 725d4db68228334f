/**
 * The tokenizer of a Hugging Face checkpoint directory: tokenizer.json, and tokenizer_config.json where there is one.
 * Text from a history must stay text, so encoding uses a second tokenizer without the `special: true` added tokens.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers'
import { AppError } from '../../src/errors.ts'
import { resolveModelFile } from '../model-files.ts'
import type { Tokenizer } from './port.ts'
import {
  parseTokenizerConfig,
  parseTokenizerJson,
  type TokenizerConfig,
  type TokenizerJson,
} from './tokenizer-files.schema.ts'

/** Neither post-processors nor clean-up: ids and text exactly as they stand. */
const VERBATIM = { add_special_tokens: false } as const
const DECODE_VERBATIM = { skip_special_tokens: false, clean_up_tokenization_spaces: false } as const

/**
 * @param directory HF checkpoint directory
 * @throws tokenizer-missing, tokenizer-invalid, model-link-escapes
 */
export function loadTokenizer(directory: string): Tokenizer {
  const path = resolveModelFile(directory, 'tokenizer.json')
  if (path === null)
    throw new AppError(
      'tokenizer-missing',
      `${join(directory, 'tokenizer.json')} does not exist: put the checkpoint's tokenizer.json beside its weights (only this format is read)`,
    )
  const json = parseTokenizerJson(path, readFileSync(path, 'utf8'))
  const configPath = resolveModelFile(directory, 'tokenizer_config.json')
  const config = configPath === null ? {} : parseTokenizerConfig(configPath, readFileSync(configPath, 'utf8'))
  return createTokenizer({ json, config, path })
}

function createTokenizer(parts: {
  readonly json: TokenizerJson
  readonly config: TokenizerConfig
  readonly path: string
}): Tokenizer {
  const { json, config, path } = parts
  const special = json.added_tokens.filter((token) => token.special)
  const plainJson = { ...json, added_tokens: json.added_tokens.filter((token) => !token.special) }
  try {
    const full = new HfTokenizer(json, config)
    const plain = new HfTokenizer(plainJson, config)
    const encode = (text: string): Int32Array => Int32Array.from(plain.encode(text, VERBATIM).ids)
    refuseLeaks({ encode, special, path })
    return {
      encode,
      // The library refuses an empty list.
      decode: (ids) => (ids.length === 0 ? '' : full.decode(Array.from(ids), DECODE_VERBATIM)),
      prefixIds: prefixIds(full, config),
      vocabularySize: vocabularySize(json),
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError(
      'tokenizer-invalid',
      `${path}: ${cause instanceof Error ? cause.message : String(cause)}: download the checkpoint's tokenizer.json again`,
      { cause },
    )
  }
}

/**
 * Ids that the model's own tokenizer puts before a text. An explicit `add_bos_token` wins over the post-processor, as
 * it does in transformers' Llama tokenizers; what it adds after a text (an end token) never belongs into a view.
 */
function prefixIds(full: HfTokenizer, config: TokenizerConfig): readonly number[] {
  if (config.add_bos_token === false) return []
  const probe = 'a'
  const bare: readonly number[] = full.encode(probe, VERBATIM).ids
  const dressed: readonly number[] = full.encode(probe, { add_special_tokens: true }).ids
  const start = dressed.findIndex((_, i) => bare.every((id, j) => dressed[i + j] === id))
  const prefix = dressed.slice(0, Math.max(0, start))
  if (prefix.length > 0 || config.add_bos_token !== true || typeof config.bos_token !== 'string') return prefix
  const bos = full.token_to_id(config.bos_token)
  return bos === undefined ? [] : [bos]
}

/** Proof at load time that no special token can be written into a history as text. */
function refuseLeaks(check: {
  readonly encode: (text: string) => Int32Array
  readonly special: TokenizerJson['added_tokens']
  readonly path: string
}): void {
  for (const token of check.special)
    if (check.encode(token.content).includes(token.id))
      throw new AppError(
        'tokenizer-invalid',
        `${check.path}: the text ${JSON.stringify(token.content)} encodes to the special token ${token.id} even without added tokens, so a log could forge it: use a model with a byte-level BPE tokenizer`,
      )
}

function vocabularySize(json: TokenizerJson): number {
  const { vocab } = json.model
  const ids = Array.isArray(vocab) ? [vocab.length - 1] : Object.values(vocab)
  let largest = -1
  for (const id of ids) if (id > largest) largest = id
  for (const token of json.added_tokens) if (token.id > largest) largest = token.id
  return largest + 1
}
