/** The self-check of a device without a model at hand: a decoder that uses what dense families use. */
import { toAppError } from '../../../src/errors.ts'
import { type AttentionConfig, type DecoderConfig, type LayerConfig, PRE_NORMS } from '../decoder.ts'
import { completeExecution } from '../execution.ts'
import type { Device } from '../port.ts'
import type { DeviceTrial } from './device-report.ts'
import { type DeviceSeams, MACHINE } from './open-on-device.ts'
import { selfCheckDevice } from './self-check.ts'

const ATTENTION: AttentionConfig = {
  kind: 'attention',
  headCount: 6,
  keyValueHeadCount: 2,
  headSize: 64,
  rope: 0,
  scale: 0.125,
  softCap: null,
  window: null,
  queryKeyNorm: null,
  queryKeyValueBias: false,
  outputBias: false,
  outputGate: false,
  fusedProjections: false,
}

const LAYER: LayerConfig = {
  norms: PRE_NORMS,
  mixer: ATTENTION,
  feedForward: { kind: 'dense', size: 160, activation: 'silu', bias: false, fusedProjections: false },
}

/** Llama; biases and norms of Qwen; window, cap and GELU of Gemma. */
export const TRIAL_DECODER: DecoderConfig = {
  architecture: 'SelfCheck',
  hiddenSize: 96,
  layerCount: 3,
  vocabularySize: 256,
  contextLength: 512,
  weightDtype: 'F32',
  norm: { epsilon: 1e-5, weightOffset: 0 },
  embeddingScale: 1,
  inputScale: 1,
  residualScale: 1,
  ropes: [{ rope: { kind: 'default', theta: 10_000 }, rotarySize: 64 }],
  layers: [
    LAYER,
    { ...LAYER, mixer: { ...ATTENTION, queryKeyNorm: 'head', queryKeyValueBias: true } },
    {
      ...LAYER,
      mixer: { ...ATTENTION, window: 40, softCap: 20 },
      feedForward: { kind: 'dense', size: 160, activation: 'gelu-tanh', bias: true, fusedProjections: false },
    },
  ],
  head: { tied: true, scale: 1, softCap: null },
}

export async function trySelfCheck(device: Device, seams: DeviceSeams = MACHINE): Promise<DeviceTrial> {
  try {
    const { worst, limit } = await selfCheckDevice({
      device,
      precision: 'f32',
      model: { config: TRIAL_DECODER, layer: TRIAL_DECODER.layerCount },
      open: (on, checkpoint, layer) => seams.open(checkpoint, layer, completeExecution({ device: on })),
    })
    return { ok: true, worst, tolerance: limit }
  } catch (thrown) {
    const { code, message } = toAppError(thrown)
    return { ok: false, code, message }
  }
}
