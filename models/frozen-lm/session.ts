/**
 * The FrozenLm port over onnxruntime-node. `run` blocks its thread: the CLI calls this in a worker thread, the
 * server in a child process. One thread per session, so equal input gives equal bits and parallelism is by process.
 */
import * as ort from 'onnxruntime-node'
import { AppError, invariant } from '../../src/errors.ts'
import type { Checkpoint } from './checkpoint.ts'
import { buildDecoderGraph, decoderStates } from './decoder-graph.ts'
import { DECODER_NAMES } from './decoder-names.ts'
import { DEFAULT_EXECUTION } from './execution.ts'
import { createLayerStates, type Feeds } from './layer-states.ts'
import type { FrozenLm, FrozenLmInfo, PrefillOptions, PrefillResult } from './port.ts'
import { createRopeFeed } from './rope-feed.ts'
import { computedRows, computedTokenCount } from './run-shape.ts'
import { planSession, type SessionPlan } from './session-plan.ts'

/**
 * @param layer 0 <= layer <= layerCount
 * @param plan default: on the CPU, weights where they are best kept
 * @throws session-failed
 */
export async function createSession(
  checkpoint: Checkpoint,
  layer: number,
  plan: SessionPlan = planSession(checkpoint, DEFAULT_EXECUTION),
): Promise<FrozenLm> {
  const { config } = checkpoint
  const info: FrozenLmInfo = {
    architecture: config.architecture,
    hiddenSize: config.hiddenSize,
    layerCount: config.layerCount,
    layer,
    contextLength: config.contextLength,
    vocabularySize: config.vocabularySize,
    device: plan.device,
  }
  const session = await load(checkpoint, layer, plan)
  const states = createLayerStates(decoderStates(config, layer, plan.variant.precision))
  const isInput = new Set(session.inputNames)
  const rope = createRopeFeed(config, isInput)

  async function prefill(tokens: Int32Array, options: PrefillOptions): Promise<PrefillResult> {
    const { past, keepState } = options
    const pastTokens = past?.tokenCount ?? 0
    checkTokens(tokens, { info, pastTokens })
    const rows = options.rows === 'last' ? [tokens.length - 1] : options.rows
    invariant(rows.length > 0 && rows.every((row) => row >= 0 && row < tokens.length), 'wanted rows lie in the tokens')
    const computed = computedTokenCount(tokens.length, pastTokens)
    const feeds: Feeds = {
      [DECODER_NAMES.tokens]: int64({ values: tokens, shape: [1, computed] }),
      [DECODER_NAMES.rows]: int64({ values: computedRows(rows), shape: [computedRows(rows).length] }),
    }
    const total = pastTokens + computed
    if (isInput.has(DECODER_NAMES.lastPosition)) {
      feeds[DECODER_NAMES.lastPosition] = new ort.Tensor('int32', Int32Array.of(total - 1), [1])
      feeds[DECODER_NAMES.totalTokens] = new ort.Tensor('int32', Int32Array.of(total), [])
    }
    if (isInput.has(DECODER_NAMES.queryPositions)) {
      feeds[DECODER_NAMES.queryPositions] = counting({ from: pastTokens, to: total, shape: [computed, 1] })
      feeds[DECODER_NAMES.keyPositions] = counting({ from: 0, to: total, shape: [1, total] })
    }
    if (isInput.has(DECODER_NAMES.firstPosition))
      feeds[DECODER_NAMES.firstPosition] = int64({ values: [pastTokens], shape: [1] })
    if (isInput.has(DECODER_NAMES.keptTokens))
      feeds[DECODER_NAMES.keptTokens] = int64({ values: [tokens.length], shape: [1] })
    Object.assign(feeds, rope(total), states.feeds(past))
    const outputs = await run(session, feeds, [DECODER_NAMES.hidden, ...(keepState ? states.outputNames : [])])
    const hidden = floats(outputs, DECODER_NAMES.hidden).slice(0, rows.length * info.hiddenSize)
    checkFinite(hidden, { info, pastTokens, rows })
    return {
      hidden: { data: hidden, rows: rows.length, cols: info.hiddenSize },
      state: keepState ? states.keep(outputs, pastTokens + tokens.length) : null,
    }
  }

  return {
    info,
    prefill,
    dispose: states.dispose,
    async close() {
      states.clear()
      await session.release()
    },
  }
}

async function load(checkpoint: Checkpoint, layer: number, plan: SessionPlan): Promise<ort.InferenceSession> {
  try {
    return await ort.InferenceSession.create(buildDecoderGraph(checkpoint, layer, plan.variant), plan.options)
  } catch (cause) {
    throw sessionFailed(`cannot load ${checkpoint.directory} up to layer ${layer}`, cause)
  }
}

async function run(session: ort.InferenceSession, feeds: Feeds, fetches: readonly string[]): Promise<Feeds> {
  try {
    return { ...(await session.run(feeds, [...fetches])) }
  } catch (cause) {
    throw sessionFailed('a run of the frozen LM failed', cause)
  }
}

function sessionFailed(what: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError('session-failed', `${what}: ${reason}`, { cause })
}

function checkTokens(tokens: Int32Array, at: { readonly info: FrozenLmInfo; readonly pastTokens: number }): void {
  const { contextLength, vocabularySize } = at.info
  invariant(tokens.length > 0, 'a prefill has at least one token')
  if (at.pastTokens + tokens.length > contextLength)
    throw new AppError(
      'context-too-short',
      `${at.pastTokens} + ${tokens.length} tokens exceed the model's context of ${contextLength}: lower the view budget or take a model with a longer context`,
      { details: { tokens: at.pastTokens + tokens.length, limit: contextLength } },
    )
  for (const token of tokens)
    if (token < 0 || token >= vocabularySize)
      throw new AppError(
        'tensor-mismatch',
        `token ${token} is outside the model's vocabulary of ${vocabularySize}: tokenizer.json and the weights do not belong together`,
      )
}

function checkFinite(
  hidden: Float32Array,
  at: { readonly info: FrozenLmInfo; readonly pastTokens: number; readonly rows: readonly number[] },
): void {
  const index = hidden.findIndex((value) => !Number.isFinite(value))
  if (index < 0) return
  const row = at.pastTokens + (at.rows[Math.floor(index / at.info.hiddenSize)] ?? 0)
  throw new AppError(
    'output-not-finite',
    `the hidden state of token ${row} after layer ${at.info.layer} holds ${hidden[index]}: the weights are damaged or do not fit this architecture; \`keepready models verify\` names the tensor and its layer`,
    { details: { row, layer: at.info.layer } },
  )
}

function floats(outputs: Feeds, name: string): Float32Array {
  const data = outputs[name]?.data
  if (data instanceof Float32Array) return data
  throw new AppError('invariant', `the session returned no float32 ${name}`)
}

/** Values as i64; a longer shape is filled up with the last value. */
function int64(tensor: { readonly values: ArrayLike<number>; readonly shape: readonly number[] }): ort.Tensor {
  const { values, shape } = tensor
  const data = new BigInt64Array(shape.reduce((product, size) => product * size, 1))
  for (let i = 0; i < data.length; i++) data[i] = BigInt(values[Math.min(i, values.length - 1)] ?? 0)
  return new ort.Tensor('int64', data, [...shape])
}

/** from, from + 1 ... to - 1 as f32: exact up to 2^24. */
function counting(range: {
  readonly from: number
  readonly to: number
  readonly shape: readonly number[]
}): ort.Tensor {
  const data = Float32Array.from({ length: range.to - range.from }, (_, i) => range.from + i)
  return new ort.Tensor('float32', data, [...range.shape])
}
