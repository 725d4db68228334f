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
import { type DecoderConfig, decoderTensors, type WeightDtype } from './architectures.ts'
import { parseDecoderConfig, parseShardIndex } from './config.schema.ts'

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
  /** The tensors the decoder reads, by their name in the checkpoint. */
  readonly tensors: ReadonlyMap<string, CheckpointTensor>
}

const SINGLE_FILE = 'model.safetensors'
const INDEX_FILE = 'model.safetensors.index.json'

/**
 * @throws model-not-found, config-invalid, architecture-unsupported, safetensors-missing, safetensors-truncated,
 * safetensors-header-invalid, safetensors-offset-invalid, tensor-mismatch, model-link-escapes
 */
export function openCheckpoint(directory: string): Checkpoint {
  requireModelDirectory(directory)
  const configPath = resolveModelFile(directory, 'config.json')
  if (configPath === null)
    throw new AppError(
      'config-invalid',
      `${join(directory, 'config.json')} does not exist: give the directory of a Hugging Face checkpoint`,
    )
  const config = parseDecoderConfig(readJson(configPath), configPath)
  const locate = openWeights(directory)
  const tensors = new Map<string, CheckpointTensor>()
  for (const [name, shape] of decoderTensors(config)) {
    const found = locate(name)
    if (found === null)
      throw new AppError(
        'tensor-mismatch',
        `${directory}: ${config.architecture} with ${config.layerCount} layers needs tensor ${name}, the safetensors files have none: config.json and weights do not belong together`,
      )
    tensors.set(name, checkTensor({ ...found, name, shape, config }))
  }
  refuseUnreadBiases({ config, locate, known: tensors, directory })
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

type Located = { readonly info: TensorInfo; readonly file: string }

/** One file, or shards that are opened when a tensor of theirs is first asked for. */
function openWeights(directory: string): (name: string) => Located | null {
  const single = resolveModelFile(directory, SINGLE_FILE)
  if (single !== null) {
    const header = readSafetensorsHeader(single)
    return (name) => locatedIn(header.tensors.get(name), single)
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
  return (name) => {
    const shard = shardOf.get(name)
    if (shard === undefined) return null
    const { file, tensors } = opened.get(shard) ?? open(shard)
    return locatedIn(tensors.get(name), file)
  }
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
function checkTensor(
  tensor: Located & { readonly name: string; readonly shape: readonly number[]; readonly config: DecoderConfig },
): CheckpointTensor {
  const { info, file, name, shape, config } = tensor
  if (info.shape.length !== shape.length || info.shape.some((size, i) => size !== shape[i]))
    throw new AppError(
      'tensor-mismatch',
      `${file}: tensor ${name} has shape [${info.shape.join(', ')}], config.json implies [${shape.join(', ')}]: they do not belong together`,
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
  return { ...info, dtype, file }
}

/** A bias in the file that config.json denies would be left out silently and give wrong hidden states. */
function refuseUnreadBiases(check: {
  readonly config: DecoderConfig
  readonly locate: (name: string) => Located | null
  readonly known: ReadonlyMap<string, CheckpointTensor>
  readonly directory: string
}): void {
  const weights = [...check.known.keys()].filter((name) => name.endsWith('_proj.weight'))
  for (const name of weights.map((weight) => weight.replace(/weight$/, 'bias')))
    if (!check.known.has(name) && check.locate(name) !== null)
      throw new AppError(
        'tensor-mismatch',
        `${check.directory}: the weights hold ${name}, which config.json denies for ${check.config.architecture} (attention_bias, mlp_bias): they do not belong together`,
      )
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new AppError('config-invalid', `${path} is not JSON: download the file again`, { cause })
  }
}
