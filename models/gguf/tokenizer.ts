/**
 * tokenizer.json and tokenizer_config.json from the metadata of a GGUF file. Byte-level BPE only: a GGUF says how text is
 * cut before the merges only by name (`tokenizer.ggml.pre`), so a name that is not in the table is refused, never guessed.
 */
import { AppError } from '../../src/errors.ts'
import { type MetadataReader, required } from './metadata.ts'

export interface GgufTokenizer {
  readonly tokenizerJson: Readonly<Record<string, unknown>>
  readonly tokenizerConfig: Readonly<Record<string, unknown>>
}

/** ggml's token types. */
const CONTROL = 3
const USER_DEFINED = 4

/** Kept whole in every tokenizer below: English contractions, words, runs of signs, line ends, blanks. */
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
const AROUND_DIGITS = (digits: string): string =>
  `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`

interface PreTokenizer {
  readonly steps: readonly unknown[]
  readonly normalizer: unknown
  /** A whole word that is in the vocabulary is taken as it is. */
  readonly ignoreMerges: boolean
  /** Where the file does not say whether a text begins with the BOS token. */
  readonly addBos: boolean
}

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }
const BYTE_LEVEL_GPT2 = { ...BYTE_LEVEL, use_regex: true }
const split = (regex: string): unknown => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior: 'Isolated',
  invert: false,
})

const GPT2: PreTokenizer = { steps: [BYTE_LEVEL_GPT2], normalizer: null, ignoreMerges: false, addBos: false }
const SINGLE_DIGITS: PreTokenizer = { ...GPT2, steps: [{ type: 'Digits', individual_digits: true }, BYTE_LEVEL_GPT2] }
const LLAMA3: PreTokenizer = {
  steps: [split(AROUND_DIGITS('\\p{N}{1,3}')), BYTE_LEVEL],
  normalizer: null,
  ignoreMerges: true,
  addBos: true,
}
const QWEN2: PreTokenizer = {
  steps: [split(AROUND_DIGITS('\\p{N}')), BYTE_LEVEL],
  normalizer: { type: 'NFC' },
  ignoreMerges: false,
  addBos: false,
}

/** Names of llama.cpp -> the `pre_tokenizer` of the tokenizer.json they stand for. */
const PRE_TOKENIZERS: ReadonlyMap<string, PreTokenizer> = new Map([
  ['gpt-2', GPT2],
  ['smollm', SINGLE_DIGITS],
  ['llama-bpe', LLAMA3],
  ['llama3', LLAMA3],
  ['llama-v3', LLAMA3],
  ['qwen2', QWEN2],
  ['deepseek-r1-qwen', QWEN2],
])

/**
 * @param vocabularySize rows of the embedding
 * @throws gguf-invalid, gguf-unsupported
 */
export function describeGgufTokenizer(metadata: MetadataReader, vocabularySize: number): GgufTokenizer {
  const pre = findPreTokenizer(metadata)
  const tokens = required(metadata, 'tokenizer.ggml.tokens', metadata.texts('tokenizer.ggml.tokens'))
  const merges = required(metadata, 'tokenizer.ggml.merges', metadata.texts('tokenizer.ggml.merges'))
  if (tokens.length > vocabularySize)
    throw metadata.refuse(
      `${tokens.length} tokens but an embedding of ${vocabularySize} rows: tokenizer and weights do not belong together`,
    )
  const types = metadata.wholes('tokenizer.ggml.token_type') ?? []
  const ids = new Map<string, number>()
  for (const [id, token] of tokens.entries()) {
    if (ids.has(token))
      throw metadata.refuse(`token ${id} ${JSON.stringify(token)} stands at ${ids.get(token)} as well`)
    ids.set(token, id)
  }
  const added = tokens.flatMap((content, id) => {
    const type = types[id]
    if (type !== CONTROL && type !== USER_DEFINED) return []
    return [{ id, content, ...ADDED_AS_IS, special: type === CONTROL }]
  })
  return {
    tokenizerJson: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: pre.normalizer,
      pre_tokenizer: pre.steps.length === 1 ? pre.steps[0] : { type: 'Sequence', pretokenizers: pre.steps },
      post_processor: null,
      decoder: { ...BYTE_LEVEL_GPT2, add_prefix_space: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: '',
        end_of_word_suffix: '',
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: pre.ignoreMerges,
        vocab: Object.fromEntries(ids),
        merges: merges.map((merge, rank) => splitMerge(metadata, { merge, rank })),
      },
    },
    tokenizerConfig: tokenizerConfig(metadata, { tokens, pre }),
  }
}

const ADDED_AS_IS = { single_word: false, lstrip: false, rstrip: false, normalized: false }

function findPreTokenizer(metadata: MetadataReader): PreTokenizer {
  const model = metadata.text('tokenizer.ggml.model') ?? 'none'
  if (model !== 'gpt2')
    throw new AppError(
      'gguf-unsupported',
      `${metadata.file}: its tokenizer is of the kind ${model.slice(0, 40)}; only byte-level BPE (gpt2) can be written as a tokenizer.json (SentencePiece and WordPiece cannot): give the model's own with --tokenizer tokenizer.json`,
    )
  // Files from before the key existed leave it out; a guess could cut text otherwise than the model was trained on.
  const name = metadata.text('tokenizer.ggml.pre') ?? 'default'
  const pre = PRE_TOKENIZERS.get(name)
  if (pre !== undefined) return pre
  throw new AppError(
    'gguf-unsupported',
    `${metadata.file}: how its tokenizer cuts text (tokenizer.ggml.pre) is ${name.slice(0, 40)}; known are ${[...PRE_TOKENIZERS.keys()].join(', ')}: give the model's own with --tokenizer tokenizer.json`,
  )
}

/** "Ġ t" -> ["Ġ", "t"]; the byte alphabet has no blank. */
function splitMerge(
  metadata: MetadataReader,
  at: { readonly merge: string; readonly rank: number },
): readonly string[] {
  const pair = at.merge.split(' ')
  if (pair.length === 2 && pair.every((part) => part !== '')) return pair
  throw metadata.refuse(`merge ${at.rank} is ${JSON.stringify(at.merge.slice(0, 80))}, no pair of tokens`)
}

function tokenizerConfig(
  metadata: MetadataReader,
  of: { readonly tokens: readonly string[]; readonly pre: PreTokenizer },
): Readonly<Record<string, unknown>> {
  const token = (name: string): string | null => {
    const id = metadata.whole(`tokenizer.ggml.${name}_token_id`)
    if (id === null) return null
    const text = of.tokens[id]
    if (text === undefined)
      throw metadata.refuse(`tokenizer.ggml.${name}_token_id is ${id}, there are ${of.tokens.length} tokens`)
    return text
  }
  const template = metadata.text('tokenizer.chat_template')
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    add_bos_token: metadata.flag('tokenizer.ggml.add_bos_token') ?? of.pre.addBos,
    bos_token: token('bos'),
    eos_token: token('eos'),
    unk_token: token('unknown'),
    pad_token: token('padding'),
    ...(template === null ? {} : { chat_template: template }),
  }
}
