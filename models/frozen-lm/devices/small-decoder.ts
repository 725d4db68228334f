/** A decoder of the same kinds of layers as another one, small enough to write and run in a moment. */
import { join } from 'node:path'
import { invariant } from '../../../src/errors.ts'
import { createRng } from '../../../src/rng.ts'
import { elementCount, readSafetensorsHeader, writeSafetensors } from '../../safetensors.ts'
import type { Checkpoint, CheckpointTensor } from '../checkpoint.ts'
import type { DecoderConfig, LayerConfig } from '../decoder.ts'
import { decoderTensors } from '../decoder-tensors.ts'
import type { Precision } from '../execution.ts'

/** Smallest and largest hidden size. Only float16 needs a wide one: its error grows with the length of a sum. */
const WIDTH = { f32: [96, 96], f16: [96, 1024] } as const
/** Over the hidden size. */
const FEED_FORWARD = 5 / 3
const VOCABULARY = 256
const CONTEXT = 512
/** Key heads of attention; the number of query heads for each stays. */
const KEY_HEADS = 2
const EXPERTS = 4
/** Over the root of the hidden size: keeps activations in the range of real models. */
const STANDARD_DEVIATION = 0.5

/**
 * One layer of each kind among the first `layer` ones, in their order, with narrower matrices and fewer heads. What
 * selects a kernel stays: head sizes, query heads per key head, rotation, windows, caps, norms, gates, activations.
 */
export function shrinkDecoder(config: DecoderConfig, layer: number, precision: Precision): DecoderConfig {
  const kinds = new Map(config.layers.slice(0, layer).map((block) => [JSON.stringify(block), block]))
  const [least, most] = WIDTH[precision]
  const hiddenSize = Math.max(least, Math.min(most, config.hiddenSize))
  const layers = [...kinds.values()].map((block) => shrinkLayer(block, hiddenSize))
  return {
    ...config,
    hiddenSize,
    layerCount: layers.length,
    vocabularySize: VOCABULARY,
    contextLength: CONTEXT,
    weightDtype: 'F32',
    layers,
  }
}

function shrinkLayer(block: LayerConfig, hiddenSize: number): LayerConfig {
  const { mixer, feedForward } = block
  const size = Math.round(hiddenSize * FEED_FORWARD)
  const fed =
    feedForward.kind === 'dense'
      ? { ...feedForward, size }
      : {
          ...feedForward,
          size,
          expertCount: Math.min(EXPERTS, feedForward.expertCount),
          activeCount: Math.min(EXPERTS, feedForward.activeCount),
          sharedSize: feedForward.sharedSize === null ? null : size,
          stacked: false,
        }
  if (mixer.kind === 'delta-net') {
    const share = mixer.valueHeadCount / mixer.keyHeadCount
    const keyHeadCount = Math.min(KEY_HEADS, mixer.keyHeadCount)
    const valueHeadCount = keyHeadCount * share
    return { ...block, mixer: { ...mixer, keyHeadCount, valueHeadCount }, feedForward: fed }
  }
  const keyValueHeadCount = Math.min(KEY_HEADS, mixer.keyValueHeadCount)
  const headCount = keyValueHeadCount * (mixer.headCount / mixer.keyValueHeadCount)
  return { ...block, mixer: { ...mixer, keyValueHeadCount, headCount }, feedForward: fed }
}

/** Writes random F32 weights of the decoder and gives the checkpoint that they are. */
export function writeRandomDecoder(options: {
  readonly config: DecoderConfig
  readonly folder: string
  readonly seed: number
}): Checkpoint {
  const { config, folder, seed } = options
  const rng = createRng(seed)
  const file = join(folder, 'model.safetensors')
  const deviation = STANDARD_DEVIATION / Math.sqrt(config.hiddenSize)
  const wanted = [...decoderTensors(config)]
  writeSafetensors(
    file,
    wanted.map(({ name, shape }) => {
      const centre = name.endsWith('norm.weight') ? 1 - config.norm.weightOffset : 0
      const data = Float32Array.from({ length: elementCount(shape) }, () => centre + rng.nextNormal() * deviation)
      return { name, shape, data }
    }),
  )
  const { tensors: written } = readSafetensorsHeader(file)
  const tensors = new Map<string, CheckpointTensor>(
    wanted.map(({ name }) => [name, { ...invariant(written.get(name), `${name} was written`), dtype: 'F32', file }]),
  )
  return { directory: folder, root: folder, config, tensors }
}
