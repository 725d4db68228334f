/**
 * Opens a Hugging Face checkpoint directory: config.json and the headers of its safetensors files, checked against each
 * other. No weight is read here: the session maps them straight from the files.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { requireModelDirectory } from '../model-directory.ts'
import { modelRoot, resolveModelFile } from '../model-files.ts'
import { readSafetensorsHeader, type TensorInfo } from '../safetensors.ts'
import type { DecoderTensor } from './blocks/tensor-shapes.ts'
import { parseDecoderConfig, parseShardIndex } from './config.schema.ts'
import { type DecoderConfig, EMBEDDING, PLAIN_PREFIX, type WeightDtype } from './decoder.ts'
import { decoderTensors } from './decoder-tensors.ts'

export interface CheckpointTensor extends TensorInfo {
  readonly dtype: WeightDtype
  /** Real path, links resolved. */
  readonly file: string
}

export interface Checkpoint {
  readonly directory: string
  /** Folder that all files really lie in; the session maps weights relative to it. */
  readonly root: string
  readonly config: DecoderConfig
  /**
   * The tensors the decoder reads, by their name in the plain layout (`model.layers.0...`), whatever the checkpoint calls
   * them; a part of a fused tensor is a tensor of its own.
   */
  readonly tensors: ReadonlyMap<string, CheckpointTensor>
}

const SINGLE_FILE = 'model.safetensors'
const INDEX_FILE = 'model.safetensors.index.json'

/** Most specific first. */
const PREFIXES = [
  'model.language_model.',
  'language_model.model.',
  'model.text_model.',
  'language_model.',
  PLAIN_PREFIX,
  'text_model.',
  '',
]

/**
 * @param viewTokens of the longest view that will be read: LongRoPE has factors for short and for long ones
 * @throws model-not-found, config-invalid, architecture-unsupported, safetensors-missing, safetensors-truncated,
 * safetensors-header-invalid, safetensors-offset-invalid, tensor-mismatch, model-link-escapes
 */
export function openCheckpoint(directory: string, viewTokens: number = Number.POSITIVE_INFINITY): Checkpoint {
  requireModelDirectory(directory)
  const configPath = resolveModelFile(directory, 'config.json')
  if (configPath === null)
    throw new AppError(
      'config-invalid',
      `${join(directory, 'config.json')} does not exist: give the directory of a Hugging Face checkpoint`,
    )
  const config = parseDecoderConfig(readJson(configPath), configPath, viewTokens)
  const weights = openWeights(directory)
  const prefix = findPrefix(weights)
  const tensors = new Map<string, CheckpointTensor>()
  const read = new Set<string>()
  for (const tensor of decoderTensors(config)) {
    const name = prefix + (tensor.part?.of ?? tensor.name).slice(PLAIN_PREFIX.length)
    const found = weights.locate(name)
    if (found === null)
      throw new AppError(
        'tensor-mismatch',
        `${directory}: ${config.architecture} with ${config.layerCount} layers needs tensor ${name}, the safetensors files have none: config.json and weights do not belong together`,
      )
    tensors.set(tensor.name, checkTensor({ ...found, name, tensor, config }))
    read.add(name)
  }
  refuseUnreadTensors({ names: weights.names(), read, prefix, config, directory })
  return { directory, root: modelRoot(directory), config, tensors }
}

/**
 * Names of the files that hold the weights, in name order: the single file, or every shard that the index names.
 * @throws safetensors-missing, config-invalid (index), model-link-escapes
 */
export function weightFileNames(directory: string): readonly string[] {
  if (resolveModelFile(directory, SINGLE_FILE) !== null) return [SINGLE_FILE]
  return [...new Set(openShardIndex(directory).values())].sort()
}

/** Precomputed tables that old checkpoints hold beside the weights. */
const TABLES = /\.(rotary_emb\.inv_freq|masked_bias|attn\.bias)$/

type Located = { readonly info: TensorInfo; readonly file: string }

export interface WeightFiles {
  readonly names: () => Iterable<string>
  readonly locate: (name: string) => Located | null
}

/** One file, or shards that are opened when a tensor of theirs is first asked for. */
export function openWeights(directory: string): WeightFiles {
  const single = resolveModelFile(directory, SINGLE_FILE)
  if (single !== null) {
    const { tensors } = readSafetensorsHeader(single)
    return { names: () => tensors.keys(), locate: (name) => locatedIn(tensors.get(name), single) }
  }
  const shardOf = openShardIndex(directory)
  const opened = new Map<string, { readonly file: string; readonly tensors: ReadonlyMap<string, TensorInfo> }>()
  const open = (shard: string) => {
    const file = resolveModelFile(directory, shard)
    if (file === null)
      throw new AppError(
        'safetensors-missing',
        `${join(directory, shard)} does not exist but ${INDEX_FILE} names it: download the missing shard`,
      )
    const entry = { file, tensors: readSafetensorsHeader(file).tensors }
    opened.set(shard, entry)
    return entry
  }
  return {
    names: () => shardOf.keys(),
    locate(name) {
      const shard = shardOf.get(name)
      if (shard === undefined) return null
      const { file, tensors } = opened.get(shard) ?? open(shard)
      return locatedIn(tensors.get(name), file)
    },
  }
}

/** What stands before `embed_tokens` and `layers`: multimodal wrappers and models saved without a head differ in it. */
export function findPrefix(weights: WeightFiles): string {
  return (
    PREFIXES.find((prefix) => weights.locate(prefix + EMBEDDING.slice(PLAIN_PREFIX.length)) !== null) ?? PLAIN_PREFIX
  )
}

/** Tensor name -> shard file name. */
function openShardIndex(directory: string): ReadonlyMap<string, string> {
  const path = resolveModelFile(directory, INDEX_FILE)
  if (path === null)
    throw new AppError(
      'safetensors-missing',
      `${directory} has neither ${SINGLE_FILE} nor ${INDEX_FILE}: only safetensors weights are read; download them completely`,
    )
  return parseShardIndex(readJson(path), path)
}

function locatedIn(info: TensorInfo | undefined, file: string): Located | null {
  return info === undefined ? null : { info, file }
}

/** Matrices have config.json's dtype; vectors (norms, biases) may be kept in F32 beside half-precision matrices. */
export function checkTensor(
  found: Located & { readonly name: string; readonly tensor: DecoderTensor; readonly config: DecoderConfig },
): CheckpointTensor {
  const { info, file, name, tensor, config } = found
  const { part, shape } = tensor
  const whole = part === null ? shape : part.whole
  if (info.shape.length !== whole.length || info.shape.some((size, i) => size !== whole[i]))
    throw new AppError(
      'tensor-mismatch',
      `${file}: tensor ${name} has shape [${info.shape.join(', ')}], config.json implies [${whole.join(', ')}]: they do not belong together`,
    )
  const { dtype } = info
  if (dtype !== 'F32' && dtype !== 'F16' && dtype !== 'BF16')
    throw new AppError('tensor-mismatch', `${file}: tensor ${name} has dtype ${dtype}; F32, F16 and BF16 are read`)
  const allowed = config.weightDtype === null || dtype === config.weightDtype || (shape.length === 1 && dtype === 'F32')
  if (!allowed)
    throw new AppError(
      'tensor-mismatch',
      `${file}: tensor ${name} has dtype ${dtype}, config.json says ${config.weightDtype}: they do not belong together`,
    )
  if (part === null) return { ...info, dtype, file }
  const rowBytes = info.sizeBytes / rowCount(part.whole)
  const offset = info.offset + part.firstRow * rowBytes
  return { dtype, file, shape, offset, sizeBytes: rowCount(shape) * rowBytes }
}

/** A vector's values are its rows. */
function rowCount(shape: readonly number[]): number {
  return shape.slice(0, Math.max(1, shape.length - 1)).reduce((product, size) => product * size, 1)
}

/**
 * A tensor of a layer that nothing reads (a bias or a norm that config.json denies) would be left out silently and give
 * wrong hidden states. Tables that old files hold beside the weights are known; what lies outside of the layers (head,
 * vision, multi-token prediction) is not ours.
 */
function refuseUnreadTensors(check: {
  readonly names: Iterable<string>
  readonly read: ReadonlySet<string>
  readonly prefix: string
  readonly config: DecoderConfig
  readonly directory: string
}): void {
  const { names, read, prefix, config, directory } = check
  for (const name of names) {
    if (!name.startsWith(`${prefix}layers.`) || read.has(name) || TABLES.test(name)) continue
    const layer = Number(name.slice(`${prefix}layers.`.length).split('.')[0])
    // Layers above the last one belong to other heads (multi-token prediction); a missing one was named before.
    if (layer >= config.layerCount) continue
    throw new AppError(
      'tensor-mismatch',
      `${directory}: the weights hold ${name}, which config.json denies for ${config.architecture} (attention_bias, mlp_bias or another architecture): they do not belong together`,
    )
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new AppError('config-invalid', `${path} is not JSON: download the file again`, { cause })
  }
}
