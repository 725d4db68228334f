/** tokenizer.json and tokenizer_config.json, as far as we rely on them; the rest passes through to the library. */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'

/** Tables are made as long as the largest id; the largest vocabulary in use has 262,144 tokens. */
const tokenId = z
  .int()
  .nonnegative()
  .max(2 ** 22)

const addedToken = z.looseObject({ id: tokenId, content: z.string().min(1), special: z.boolean() })

const vocabulary = z.union([z.record(z.string(), tokenId), z.array(z.tuple([z.string(), z.number()])).min(1)])

const tokenizerJsonSchema = z.looseObject({
  added_tokens: z.array(addedToken).default([]),
  model: z.looseObject({ type: z.enum(['BPE', 'Unigram', 'WordPiece', 'WordLevel']), vocab: vocabulary }),
})
export type TokenizerJson = z.infer<typeof tokenizerJsonSchema>

/** A token is written as its text or as a record with `content`. */
const tokenText = z.union([z.string(), z.looseObject({ content: z.string() }).transform((token) => token.content)])

const tokenizerConfigSchema = z.looseObject({
  add_bos_token: z.boolean().nullish(),
  bos_token: tokenText.nullish(),
})
export type TokenizerConfig = z.infer<typeof tokenizerConfigSchema>

/** @throws tokenizer-invalid */
export function parseTokenizerJson(path: string, text: string): TokenizerJson {
  return parse(tokenizerJsonSchema, path, text)
}

/** @throws tokenizer-invalid */
export function parseTokenizerConfig(path: string, text: string): TokenizerConfig {
  return parse(tokenizerConfigSchema, path, text)
}

function parse<T>(schema: z.ZodType<T>, path: string, text: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new AppError('tokenizer-invalid', `${path} is not JSON: download the file again`, { cause })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new AppError(
    'tokenizer-invalid',
    `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a tokenizer'}; a tokenizer.json as Hugging Face tokenizers writes it is needed`,
  )
}
