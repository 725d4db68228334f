/** Qwen2 and Qwen2.5 (arXiv 2407.10671): Llama with biases on query, key and value. */
import { DECODER_FIELDS, ROPE_FIELDS } from '../config-fields.schema.ts'
import { PRE_NORMS } from '../decoder.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { QWEN_WINDOW_FIELDS, qwenWindows } from './qwen-windows.ts'
import { plainRope } from './rope-fields.ts'

export const qwen2: Family = {
  architectures: ['Qwen2ForCausalLM'],
  modelTypes: ['qwen2'],
  describe(source) {
    const fields = source.read({ ...DECODER_FIELDS, ...ROPE_FIELDS, ...QWEN_WINDOW_FIELDS })
    const attention = { ...plainAttention(source, fields), queryKeyValueBias: true }
    const windows = qwenWindows(source, fields)
    const feedForward = plainFeedForward(source, fields)
    const { headSize } = attention
    return plainDecoder(source, fields, {
      ropes: [plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })],
      layerAt: (index) => ({
        norms: PRE_NORMS,
        mixer: { ...attention, window: windows[index] ?? null },
        feedForward,
      }),
    })
  },
}
