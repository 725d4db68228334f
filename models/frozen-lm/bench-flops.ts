/** The floating-point operations that a prefill needs: what its rate is measured in. */
import type { DecoderConfig, LayerConfig } from './decoder.ts'

/**
 * Multiplications and additions of the matrix products of one prefill at position 0; norms, activations, rotations and
 * convolutions (under 1 %) are not counted, attention counts only pairs that mask and window allow, and the last layer's
 * output projection and feed-forward run on the wanted rows alone.
 */
export function prefillFlops(
  config: DecoderConfig,
  run: { readonly layer: number; readonly tokens: number; readonly rows: number },
): number {
  const { layer, tokens, rows } = run
  return config.layers.slice(0, layer).reduce((sum, block, index) => {
    const after = index === layer - 1 ? rows : tokens
    const { input, output, pairs } = mixerFlops(block, config.hiddenSize, tokens)
    return sum + tokens * input + pairs + after * (output + feedForwardFlops(block, config.hiddenSize))
  }, 0)
}

/** Per token into and out of the mixer, and for all pairs or states between. */
function mixerFlops({ mixer }: LayerConfig, d: number, tokens: number) {
  if (mixer.kind === 'attention') {
    const { headCount, keyValueHeadCount, headSize, outputGate } = mixer
    const window = Math.min(mixer.window ?? tokens, tokens)
    const pairs = (window * (window + 1)) / 2 + (tokens - window) * window
    const projections = (outputGate ? 2 : 1) * headCount + 2 * keyValueHeadCount
    return {
      input: 2 * d * headSize * projections,
      output: 2 * d * headCount * headSize,
      pairs: 4 * headCount * headSize * pairs,
    }
  }
  const { keyHeadCount, keyHeadSize, valueHeadCount, valueHeadSize } = mixer
  const valueSize = valueHeadCount * valueHeadSize
  return {
    input: 2 * d * (2 * keyHeadCount * keyHeadSize + 2 * valueSize + 2 * valueHeadCount),
    output: 2 * d * valueSize,
    // Decay, recall, update and read of one matrix per value head.
    pairs: 7 * tokens * keyHeadSize * valueSize,
  }
}

function feedForwardFlops({ feedForward }: LayerConfig, d: number): number {
  if (feedForward.kind === 'dense') return 6 * d * feedForward.size
  const { expertCount, activeCount, size, sharedSize } = feedForward
  return 2 * d * expertCount + 6 * d * (size * activeCount + (sharedSize ?? 0))
}
