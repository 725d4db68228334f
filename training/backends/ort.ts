/**
 * The default training engine: a hand-written ONNX gradient graph in ONNX Runtime and AdamW in WebAssembly, both on one
 * block of memory. One thread, so the same seed gives the same bits. session.run blocks its thread: call it from a worker.
 * With the CUDA provider the graph runs on the GPU, and parameters and gradients cross the bus in each step.
 */
import { env, InferenceSession, Tensor } from 'onnxruntime-node'
import { buildParameters, tensorOf, tensorsOf } from '../../models/router/parameters.ts'
import type { RouterParameters, RouterSpec } from '../../models/router/spec.ts'
import type { Batch } from '../batch.ts'
import type { BackendOptions, BackendState, TrainerBackend } from './backend.ts'
import { createOptimiserMemory, type TensorRole } from './optimiser-memory.ts'
import { requireMask } from './require-mask.ts'
import { FEED, forwardGraph, gradientGraph } from './router-graph.ts'

export type OrtProvider = 'cpu' | 'cuda'

function sessionOptions(provider: OrtProvider): InferenceSession.SessionOptions {
  return {
    executionProviders: [provider],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    // An operator that the GPU lacks is an error, not a part of the step that runs on the CPU unnoticed.
    ...(provider === 'cpu' ? {} : { extra: { session: { disable_cpu_ep_fallback: '1' } } }),
  }
}

type Feeds = Record<string, Tensor>

/** @throws option-invalid (too large for the optimiser's memory), and what the runtime says about the provider */
export async function createOrtBackend(
  options: BackendOptions,
  provider: OrtProvider = 'cpu',
): Promise<TrainerBackend> {
  const { spec } = options
  const memory = createOptimiserMemory(spec, options.adamw)
  const tensors = tensorsOf(spec)
  const load = (role: TensorRole, parameters: RouterParameters): void => {
    for (const { name } of tensors) memory.view(role, name).set(tensorOf(parameters, name))
  }
  const copyOf = (role: TensorRole): RouterParameters =>
    buildParameters(spec, ({ name }) => Float32Array.from(memory.view(role, name)))
  load('parameter', options.parameters)
  const parameterFeeds: Feeds = {}
  const gradientFetches: Feeds = {}
  for (const { name, shape } of tensors) {
    parameterFeeds[name] = new Tensor('float32', memory.view('parameter', name), shape)
    gradientFetches[FEED.gradient(name)] = new Tensor('float32', memory.view('gradient', name), shape)
  }
  const [gradientSession, forwardSession] = await Promise.all([
    InferenceSession.create(gradientGraph(spec), sessionOptions(provider)),
    InferenceSession.create(forwardGraph(spec), sessionOptions(provider)),
  ])
  let step = 0

  /** Runs the gradient graph: gradients land in the optimiser's memory, the loss is returned. */
  const runGradients = async (batch: Batch, mask: Float32Array | null): Promise<number> => {
    requireMask(spec, mask)
    const dims = [batch.trajectories, batch.pairs]
    const feeds: Feeds = {
      ...parameterFeeds,
      ...inputFeeds(spec, batch),
      [FEED.labels]: new Tensor('float32', batch.labels, [...dims, 1]),
      [FEED.weights]: new Tensor('float32', batch.weights, [...dims, 1]),
    }
    if (mask !== null) feeds[FEED.mask] = new Tensor('float32', mask, [...dims, spec.width])
    if (batch.blocks.length > 0) {
      const N = batch.selectionTransposed.length / (batch.trajectories * batch.pairs)
      feeds[FEED.selectionTransposed] = new Tensor('float32', batch.selectionTransposed, [
        batch.trajectories,
        N,
        batch.pairs,
      ])
      const rows = BigInt64Array.from(batch.blocks, (block) => BigInt(block.rows))
      feeds[FEED.blockRows] = new Tensor('int64', rows, [rows.length])
    }
    const loss = new Float32Array(1)
    await gradientSession.run(feeds, { ...gradientFetches, [FEED.loss]: new Tensor('float32', loss, []) })
    return loss[0] as number
  }

  return {
    name: `ort-${provider}`,
    version: env.versions.node ?? env.versions.common,
    // Sums on a GPU may come in any order.
    deterministic: provider === 'cpu',
    async gradients(batch, mask) {
      const loss = await runGradients(batch, mask)
      return { loss, gradients: copyOf('gradient') }
    },
    async step(batch, mask) {
      const loss = await runGradients(batch, mask)
      step += 1
      memory.update(step)
      return loss
    },
    async logits(batch) {
      const { logits } = await forwardSession.run({ ...parameterFeeds, ...inputFeeds(spec, batch) })
      return logits?.data as Float32Array
    },
    exportState: (): BackendState => ({
      parameters: copyOf('parameter'),
      firstMoment: copyOf('firstMoment'),
      secondMoment: copyOf('secondMoment'),
      step,
    }),
    importState(state) {
      load('parameter', state.parameters)
      load('firstMoment', state.firstMoment)
      load('secondMoment', state.secondMoment)
      step = state.step
    },
    async close() {
      await gradientSession.release()
      await forwardSession.release()
    },
  }
}

function inputFeeds(spec: RouterSpec, batch: Batch): Feeds {
  const { trajectories: T, pairs: P } = batch
  const feeds: Feeds = {}
  for (const block of batch.blocks)
    feeds[FEED.vectors(block.name)] = new Tensor('float32', block.values, [T, block.rows, spec.hiddenSize])
  if (batch.blocks.length > 0)
    feeds[FEED.selection] = new Tensor('float32', batch.selection, [T, P, batch.selection.length / (T * P)])
  if (batch.evidence !== null) feeds[FEED.evidence] = new Tensor('float32', batch.evidence, [T, P, spec.evidenceSize])
  return feeds
}
