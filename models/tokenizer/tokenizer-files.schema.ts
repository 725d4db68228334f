/** tokenizer.json and tokenizer_config.json, as far as we rely on them; the rest passes through to the library. */
import { z } from 'zod'

const addedToken = z.looseObject({ id: z.int().nonnegative(), content: z.string().min(1), special: z.boolean() })

const vocabulary = z.union([
  z.record(z.string(), z.int().nonnegative()),
  z.array(z.tuple([z.string(), z.number()])).min(1),
])

export const tokenizerJsonSchema = z.looseObject({
  added_tokens: z.array(addedToken).default([]),
  model: z.looseObject({ type: z.enum(['BPE', 'Unigram', 'WordPiece', 'WordLevel']), vocab: vocabulary }),
})
export type TokenizerJson = z.infer<typeof tokenizerJsonSchema>

/** A token is written as its text or as a record with `content`. */
const tokenText = z.union([z.string(), z.looseObject({ content: z.string() }).transform((token) => token.content)])

export const tokenizerConfigSchema = z.looseObject({
  add_bos_token: z.boolean().nullish(),
  bos_token: tokenText.nullish(),
})
export type TokenizerConfig = z.infer<typeof tokenizerConfigSchema>
