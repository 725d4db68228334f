/** The tensors that a decoder reads from its checkpoint, with the shapes that config.json implies. */
import { attentionTensors } from './blocks/attention.ts'
import { deltaNetTensors } from './blocks/delta-net.ts'
import { expertsTensors } from './blocks/experts.ts'
import { feedForwardTensors } from './blocks/feed-forward.ts'
import { type DecoderTensor, wholeTensor } from './blocks/tensor-shapes.ts'
import { type DecoderConfig, EMBEDDING, type LayerConfig, layerTensor } from './decoder.ts'

/**
 * One at a time, so that a config.json that promises millions of tensors costs nothing before the first one is missed.
 * The final norm and lm_head are not among them (head/head-tensors.ts).
 */
export function* decoderTensors(config: DecoderConfig): Generator<DecoderTensor> {
  yield wholeTensor(EMBEDDING, [config.vocabularySize, config.hiddenSize])
  for (const [index, layer] of config.layers.entries()) {
    for (const tensor of layerTensors(layer, config.hiddenSize)) {
      const part = tensor.part === null ? null : { ...tensor.part, of: layerTensor(index, tensor.part.of) }
      yield { ...tensor, name: layerTensor(index, tensor.name), part }
    }
  }
}

function* layerTensors(layer: LayerConfig, hiddenSize: number): Generator<DecoderTensor> {
  const { norms, mixer, feedForward } = layer
  for (const norm of Object.values(norms)) if (norm !== null) yield wholeTensor(`${norm}.weight`, [hiddenSize])
  yield* mixer.kind === 'attention' ? attentionTensors(mixer, hiddenSize) : deltaNetTensors(mixer, hiddenSize)
  yield* feedForward.kind === 'dense'
    ? feedForwardTensors(feedForward, hiddenSize)
    : expertsTensors(feedForward, hiddenSize)
}
