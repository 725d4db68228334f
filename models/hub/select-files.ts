/** Which files of a repository a pull fetches. Pure. */
import { AppError } from '../../src/errors.ts'
import type { HubFile } from './port.ts'

/** What is read, and what other tools want beside it; all small. */
const TEXTS = new Set([
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'chat_template.jinja',
])
const SINGLE = 'model.safetensors'
const INDEX = 'model.safetensors.index.json'
const SHARD = /^model-\d{5}-of-\d{5}\.safetensors$/

/**
 * By default config, tokenizer and one set of safetensors weights: repositories often hold the same weights again in other
 * formats and precisions. Patterns replace the default; `*` stands for any text, `?` for one character.
 * @throws model-not-found where nothing is selected, or no weights are
 */
export function selectFiles(
  files: readonly HubFile[],
  options: { readonly model: string; readonly include: readonly string[] },
): readonly HubFile[] {
  const { model, include } = options
  if (include.length > 0) {
    const patterns = include.map(toRegExp)
    const chosen = files.filter(({ path }) => patterns.some((pattern) => pattern.test(path)))
    if (chosen.length > 0) return chosen
    throw nothingFound(model, `no file that matches --include ${include.join(' ')}`, files)
  }
  const single = files.some(({ path }) => path === SINGLE)
  const weights = files.filter(({ path }) => (single ? path === SINGLE : path === INDEX || SHARD.test(path)))
  if (!weights.some(({ path }) => path.endsWith('.safetensors')))
    throw nothingFound(model, `no ${SINGLE} and no shards of one`, files)
  return [...files.filter(({ path }) => TEXTS.has(path)), ...weights]
}

function toRegExp(pattern: string): RegExp {
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${escaped}$`, 's')
}

function nothingFound(model: string, what: string, files: readonly HubFile[]): AppError {
  const names = files.map(({ path }) => path).filter((path) => /\.(safetensors|gguf|bin|pth?|onnx)$/.test(path))
  const gguf = names.some((name) => name.endsWith('.gguf'))
  return new AppError(
    'model-not-found',
    `${model} holds ${what}; its weight files are ${names.slice(0, 8).join(', ') || 'none'}${names.length > 8 ? ` and ${names.length - 8} more` : ''}: ${gguf ? "choose one GGUF file with --include 'NAME.gguf' (keepready models convert makes a checkpoint of it)" : 'only safetensors weights and GGUF files can be used'}`,
  )
}
