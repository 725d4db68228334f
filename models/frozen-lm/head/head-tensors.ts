/** The tensors between the last layer and the logits: found like a decoder's, and only by whoever reads logits. */
import { AppError } from '../../../src/errors.ts'
import { type DecoderTensor, wholeTensor } from '../blocks/tensor-shapes.ts'
import { type Checkpoint, type CheckpointTensor, checkTensor, findPrefix, openWeights } from '../checkpoint.ts'
import { type DecoderConfig, EMBEDDING, FINAL_NORM, LM_HEAD, PLAIN_PREFIX } from '../decoder.ts'

/** Where checkpoints keep a head of its own: multimodal wrappers put it beside their text model. */
const HEAD_NAMES = [LM_HEAD, `language_model.${LM_HEAD}`, `model.language_model.${LM_HEAD}`]

/** What config.json implies; a tied head has no matrix of its own. */
export function headTensors(config: DecoderConfig): readonly DecoderTensor[] {
  const norm = wholeTensor(FINAL_NORM, [config.hiddenSize])
  return config.head.tied === true ? [norm] : [norm, headMatrix(config)]
}

/**
 * Final norm and head matrix, under their names in the plain layout, as a checkpoint that holds nothing else. The matrix
 * is the embeddings' where config.json ties them, or says nothing and the files hold no head.
 * @throws tensor-mismatch, and what opening the files throws
 */
export function openHead(checkpoint: Checkpoint): Checkpoint {
  const { directory, config, tensors } = checkpoint
  const files = openWeights(directory)
  const find = (tensor: DecoderTensor, names: readonly string[]): CheckpointTensor | null => {
    for (const name of names) {
      const found = files.locate(name)
      if (found !== null) return checkTensor({ ...found, name, tensor, config })
    }
    return null
  }
  const prefix = findPrefix(files)
  const norm = find(wholeTensor(FINAL_NORM, [config.hiddenSize]), [prefix + FINAL_NORM.slice(PLAIN_PREFIX.length)])
  if (norm === null) throw missing(directory, FINAL_NORM)
  const own = config.head.tied === true ? null : find(headMatrix(config), HEAD_NAMES)
  const matrix = own ?? (config.head.tied === false ? undefined : tensors.get(EMBEDDING))
  if (matrix === undefined) throw missing(directory, LM_HEAD)
  return {
    ...checkpoint,
    tensors: new Map([
      [FINAL_NORM, norm],
      [LM_HEAD, matrix],
    ]),
  }
}

function headMatrix(config: DecoderConfig): DecoderTensor {
  return wholeTensor(LM_HEAD, [config.vocabularySize, config.hiddenSize])
}

function missing(directory: string, name: string): AppError {
  return new AppError(
    'tensor-mismatch',
    `${directory}: the safetensors files have no ${name}, so that tokens have no probabilities: take the whole model (...ForCausalLM), not one that was saved without its head`,
  )
}
