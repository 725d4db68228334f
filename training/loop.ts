/**
 * The training loop: epochs, early stopping, best parameters. Engine-free. All state is one serialisable record, so a
 * run that stops after any epoch goes on bit for bit.
 */
import { setImmediate } from 'node:timers/promises'
import type { EpochRecord, TrainConfig } from '../models/router/manifest.ts'
import type { RouterParameters } from '../models/router/spec.ts'
import { AppError } from '../src/errors.ts'
import { createRng, deriveSeed } from '../src/rng.ts'
import type { BackendState, TrainerBackend } from './backends/backend.ts'
import { type BatchSource, buildBatch } from './batch.ts'
import { dropoutMask } from './dropout-mask.ts'
import { epochOrder } from './epoch-order.ts'
import { predict, splitMetrics } from './predict.ts'
import type { TrajectoryPairs } from './split-pairs.ts'

export interface LoopState {
  /** Epochs done. */
  readonly epochs: readonly EpochRecord[]
  /** Where order and masks go on. */
  readonly rng: readonly number[]
  readonly backend: BackendState
  /** Parameters of the epoch with the best validation score so far. */
  readonly best: { readonly epoch: number; readonly score: number; readonly parameters: RouterParameters } | null
}

export interface LoopInput {
  readonly backend: TrainerBackend
  readonly source: BatchSource
  readonly training: readonly TrajectoryPairs[]
  /** What early stopping looks at. */
  readonly validation: readonly TrajectoryPairs[]
  readonly config: TrainConfig
  /** Continue from here; null: start. The backend holds the first parameters then. */
  readonly state: LoopState | null
  readonly signal?: AbortSignal | undefined
  /** Called after each epoch with the state to keep, and awaited; hold on to it no longer than that. */
  readonly onEpoch?: ((state: LoopState) => void | Promise<void>) | undefined
  /** Called after each step. @param pairs trained on in this step */
  readonly onStep?: ((pairs: number, lossNats: number) => void) | undefined
}

/** What goes from epoch to epoch beside the backend's own state, of which only one copy is in memory at a time. */
type Progress = Omit<LoopState, 'backend'>

/** @throws interrupted (the signal's reason), output-not-finite when the loss diverges */
export async function runTraining(input: LoopInput): Promise<LoopState> {
  if (input.state !== null) input.backend.importState(input.state.backend)
  let progress: Progress = input.state === null ? firstProgress(input) : progressOf(input.state)
  while (!isFinished(progress, input.config)) progress = progressOf(await endEpoch(progress, input))
  return { ...progress, backend: input.backend.exportState() }
}

async function endEpoch(progress: Progress, input: LoopInput): Promise<LoopState> {
  const state = await runEpoch(progress, input)
  // A caller that has gone away wants nothing kept any more.
  await setImmediate()
  input.signal?.throwIfAborted()
  await input.onEpoch?.(state)
  return state
}

function firstProgress({ config }: LoopInput): Progress {
  return { epochs: [], rng: createRng(deriveSeed(config.seed, 'loop')).state(), best: null }
}

function progressOf({ epochs, rng, best }: LoopState): Progress {
  return { epochs, rng, best }
}

function isFinished({ epochs, best }: Progress, config: TrainConfig): boolean {
  return epochs.length >= config.epochs || (best !== null && epochs.length - best.epoch >= config.patience)
}

async function runEpoch(state: Progress, input: LoopInput): Promise<LoopState> {
  const { backend, source, config } = input
  const rng = createRng(state.rng)
  const epoch = state.epochs.length + 1
  const useMask = source.spec.width > 0 && source.spec.dropout > 0
  let loss = 0
  const batches = epochOrder(input.training, rng)
  for (const [index, slots] of batches.entries()) {
    const batch = buildBatch(source, slots, { positiveWeight: config.positiveWeight })
    const size = batch.trajectories * batch.pairs * source.spec.width
    const stepLoss = await backend.step(batch, useMask ? dropoutMask(size, source.spec.dropout, rng) : null)
    if (!Number.isFinite(stepLoss))
      throw new AppError(
        'output-not-finite',
        `the loss is ${stepLoss} at step ${index + 1} of ${batches.length} in epoch ${epoch}: lower --lr (now ${config.learningRate})`,
        { details: { epoch, step: index + 1, learningRate: config.learningRate } },
      )
    loss += stepLoss / batches.length
    input.onStep?.(
      slots.reduce((sum, slot) => sum + slot.length, 0),
      stepLoss,
    )
    // The engine blocks its thread: let messages and signals through between steps.
    await setImmediate()
    input.signal?.throwIfAborted()
  }
  const logits = await predict(backend, source, input.validation, input.signal)
  const validation = splitMetrics({
    pairs: source.pairs,
    trajectories: input.validation,
    logits,
    positiveWeight: config.positiveWeight,
  })
  const record: EpochRecord = {
    epoch,
    trainLossNats: loss,
    validationLossNats: validation.lossNats,
    validationPrAuc: validation.prAuc,
  }
  const after = backend.exportState()
  // With no READY pair in validation there is no PR-AUC; the loss decides then.
  const score = validation.prAuc ?? -validation.lossNats
  return {
    epochs: [...state.epochs, record],
    rng: rng.state(),
    backend: after,
    best: state.best === null || score > state.best.score ? { epoch, score, parameters: after.parameters } : state.best,
  }
}
