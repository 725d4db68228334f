/**
 * Trains a router: for each input kind five rotation models with held-out predictions, then one final model of the kind
 * that validation prefers, all into one artefact (DESIGN sections 8, 11, 12). Decides what to train; jobs do the work.
 */
import { type Part, ROTATIONS, type Rotation, type RotationSplit, rotationSplit } from '../data/rotations.ts'
import type { Dataset } from '../data/store/dataset.ts'
import type { EpochRecord, HashedSplit, RotationSummary, RouterManifest } from '../models/router/manifest.ts'
import { INPUT_KINDS, type InputKind } from '../models/router/spec.ts'
import { openRouterWriter, type RouterWriter, type WritableManifest } from '../models/router/write-artefact.ts'
import { invariant } from '../src/errors.ts'
import { DEFAULT_OPERATING_POINT } from '../src/router/operating-points.ts'
import type { EngineName } from './backends/engine-names.ts'
import { checkTrainingData, requireReadyParts } from './check-training-data.ts'
import { chooseInputs, type ServedChoice } from './choose-inputs.ts'
import { dealParts } from './deal-parts.ts'
import { pairsPerEpoch } from './epoch-order.ts'
import { hashedIds } from './group-ids.ts'
import { probeRows } from './probe-rows.ts'
import { openWorkFolder, type WorkFolder } from './resume/work-folder.ts'
import { countPositives, pairsOfGroups, type TrajectoryPairs } from './split-pairs.ts'
import { type FineTuning, planFineTuning } from './starting-router.ts'
import { resolveTrainConfig, type TrainOverrides } from './train-config.ts'
import { quantiles, SCORE_LEVELS, type TrainedRouter, type TrainJob } from './train-rotation.ts'
import type { JobRunner } from './worker-pool.ts'

export interface TrainRequest {
  readonly dataset: Dataset
  /** Directory of the artefact. */
  readonly out: string
  readonly inputs: InputKind | 'auto'
  readonly overrides: TrainOverrides
  readonly runJobs: JobRunner
  /** Directory of the router to start from: fine-tuning. */
  readonly from?: string | undefined
  /** Trains every job; left out: ort-cpu. */
  readonly backend?: EngineName | undefined
  /** What the manifest says about the machine and the code: the Node version, and `sourceVersion()`. */
  readonly node: string
  readonly source: string
  /** Forget what an earlier, unfinished run with this `out` has done. */
  readonly fresh?: boolean | undefined
  /** Jobs keep their state at most this often; left out: every two seconds. */
  readonly keepEveryMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onPlan?: ((plan: TrainPlan) => void) | undefined
  /** Steps of any job since the last call, with their mean loss. */
  readonly onStep?: ((pairs: number, lossNats: number) => void) | undefined
  readonly onEpoch?: ((job: TrainJob, record: EpochRecord) => void) | undefined
  /** @param pairsLeftOut planned, and not needed: the job stopped early */
  readonly onJob?: ((job: TrainJob, pairsLeftOut: number) => void) | undefined
}

/** What is left to do. */
export interface TrainPlan {
  readonly jobs: number
  /** To train on, at most: early stopping ends sooner. */
  readonly pairs: number
  /** An earlier run's: jobs that have finished, and epochs of others. */
  readonly finishedJobs: number
  readonly finishedEpochs: number
}

/**
 * @returns the manifest as written
 * @throws training-data-insufficient, option-invalid, interrupted, disk-full and what the engine throws; with `from` also
 *   what planFineTuning throws. Whatever artefact was there before stays then
 */
export async function trainRouter(asked: TrainRequest): Promise<RouterManifest> {
  const { dataset } = asked
  const fineTuning = asked.from === undefined ? null : planFineTuning(asked.from, dataset, asked)
  const request = fineTuning === null ? asked : { ...asked, inputs: fineTuning.inputs, overrides: fineTuning.overrides }
  const kinds: readonly InputKind[] = request.inputs === 'auto' ? INPUT_KINDS : [request.inputs]
  const configOf = (inputs: InputKind) => resolveTrainConfig(inputs, request.overrides)
  const parts = dealParts(dataset, configOf(kinds[0] ?? 'hidden').seed, fineTuning?.parent ?? null)
  checkTrainingData(dataset, { vectors: kinds.some((inputs) => inputs !== 'evidence') })
  if (fineTuning === null) requireReadyParts(dataset, parts)
  const { out, source, node, fresh = false, keepEveryMs } = request
  const work = await openWorkFolder({ out, dataset, environment: { source, node }, fresh, keepEveryMs })
  const jobOf = (inputs: InputKind, rotation: Rotation): TrainJob =>
    work.keeping({
      inputs,
      rotation,
      split: rotationSplit(parts, rotation),
      config: configOf(inputs),
      backend: request.backend,
      start: fineTuning?.start,
    })
  const jobs = kinds.flatMap((inputs) => ROTATIONS.map((rotation) => jobOf(inputs, rotation)))
  const all = [...jobs, jobOf(kinds[0] ?? 'hidden', 'final')]
  // Which kind is served is not known before the rotations have ended, unless there is one.
  const together = kinds.length === 1 ? all : jobs
  const before = new Set(all.filter((job) => work.epochsDone(job) === 'all').map(nameOf))
  const onJob: TrainRequest['onJob'] = (job, leftOut) => {
    if (!before.has(nameOf(job))) asked.onJob?.(job, leftOut)
  }
  request.onPlan?.(planOf(dataset, all, work))
  const writer = openRouterWriter(request.out)
  try {
    const trained = await trainJobs({ ...request, onJob }, together, writer)
    const { rotations } = trained
    const served = chooseInputs(rotations)
    const final = trained.final ?? (await trainFinal({ ...request, onJob }, jobOf(served.inputs, 'final')))
    const manifest = manifestOf(request, { parts, kinds, rotations, served, final, fineTuning })
    const probe = probeRows(dataset, final.spec, final.validationPredictions)
    const committed = writer.commit(manifest, { parameters: final.parameters, probe })
    await work.remove()
    return committed
  } catch (thrown) {
    writer.discard()
    throw thrown
  }
}

/** Rotations go to the writer as they end; `final` is null if it was not among the jobs. */
async function trainJobs(
  request: TrainRequest,
  jobs: readonly TrainJob[],
  writer: RouterWriter,
): Promise<{ readonly rotations: readonly StartedRotation[]; readonly final: TrainedRouter | null }> {
  const summaries = new Map<string, StartedRotation>()
  let final: TrainedRouter | null = null
  await request.runJobs(request.dataset, jobs, {
    ...hooksOf(request),
    onResult: (result) => {
      reportJob(request, jobs, result)
      if (result.rotation === 'final') {
        final = result
        return
      }
      const summary = summarise(result)
      const split = invariant(
        jobs.find((job) => job.inputs === result.inputs && job.rotation === result.rotation),
        'a result belongs to a job',
      ).split
      summaries.set(`${result.inputs}/${result.rotation}`, summary)
      writer.writeRotation(
        {
          spec: result.spec,
          rotation: summary.rotation,
          bestEpoch: result.bestEpoch,
          validation: result.validation,
          test: result.test,
          epochs: result.epochs,
          operatingPoints: result.operatingPoints,
          validationPredictions: result.validationPredictions,
          testPredictions: result.testPredictions,
          startPredictions: result.startPredictions,
          groups: { ...hashSplit(request.dataset, split), test: hashedIds(request.dataset.manifest, split.test) },
        },
        result.parameters,
      )
    },
  })
  const rotations = jobs
    .filter((job) => job.rotation !== 'final')
    .map((job) => invariant(summaries.get(`${job.inputs}/${job.rotation}`), 'every job has a result'))
  return { rotations, final }
}

async function trainFinal(request: TrainRequest, job: TrainJob): Promise<TrainedRouter> {
  const results: TrainedRouter[] = []
  await request.runJobs(request.dataset, [job], {
    ...hooksOf(request),
    onResult: (result) => {
      reportJob(request, [job], result)
      results.push(result)
    },
  })
  return invariant(results[0], 'the final model was trained')
}

function hooksOf({ signal, onStep, onEpoch }: TrainRequest): Pick<TrainRequest, 'signal' | 'onStep' | 'onEpoch'> {
  return { signal, onStep, onEpoch }
}

/** A rotation, and what the router that it started from reaches on the same pairs. */
type StartedRotation = RotationSummary & Pick<TrainedRouter, 'start'>

function summarise(result: TrainedRouter): StartedRotation {
  return {
    inputs: result.inputs,
    rotation: Number(result.rotation),
    bestEpoch: result.bestEpoch,
    validation: result.validation,
    test: result.test,
    start: result.start,
  }
}

function planOf(dataset: Dataset, jobs: readonly TrainJob[], work: WorkFolder): TrainPlan {
  const plan = { jobs: jobs.length, pairs: 0, finishedJobs: 0, finishedEpochs: 0 }
  for (const job of jobs) {
    const done = work.epochsDone(job)
    if (done === 'all') plan.finishedJobs += 1
    else {
      plan.finishedEpochs += done
      plan.pairs += (job.config.epochs - done) * pairsPerEpoch(pairsOfGroups(dataset, job.split.train))
    }
  }
  return plan
}

function nameOf(job: Pick<TrainJob, 'inputs' | 'rotation'>): string {
  return `${job.inputs}/${job.rotation}`
}

function reportJob(request: TrainRequest, jobs: readonly TrainJob[], result: TrainedRouter): void {
  const job = invariant(
    jobs.find((one) => nameOf(one) === nameOf(result)),
    'a result belongs to a job',
  )
  const leftOut = job.config.epochs - result.epochs.length
  request.onJob?.(job, leftOut * pairsPerEpoch(pairsOfGroups(request.dataset, job.split.train)))
}

function manifestOf(
  request: TrainRequest,
  outcome: {
    readonly parts: ReadonlyMap<string, Part>
    readonly kinds: readonly InputKind[]
    readonly rotations: readonly StartedRotation[]
    readonly served: ServedChoice
    readonly final: TrainedRouter
    readonly fineTuning: FineTuning | null
  },
): WritableManifest {
  const { dataset, node, source } = request
  const { final, served } = outcome
  const { manifest: data, pairs, trajectories } = dataset
  const split = rotationSplit(outcome.parts, 'final')
  const training = pairsOfGroups(dataset, split.train)
  const validation = pairsOfGroups(dataset, split.validation)
  return {
    spec: final.spec,
    trainedInputs: outcome.kinds,
    servedBecause: served.because,
    topK: pairs.topK,
    evidenceNames: data.evidenceNames,
    representationId: data.representationId,
    representation: data.representation,
    standardisation: final.standardisation,
    operatingPoints: final.operatingPoints,
    defaultOperatingPoint: DEFAULT_OPERATING_POINT,
    config: resolveTrainConfig(served.inputs, request.overrides),
    bestEpoch: final.bestEpoch,
    epochs: final.epochs,
    validation: final.validation,
    rotations: outcome.rotations,
    prevalence: {
      training: prevalence(dataset, training),
      validation: prevalence(dataset, validation),
      byDomain: prevalenceByDomain(dataset),
    },
    quantiles: {
      levels: SCORE_LEVELS,
      score: final.scoreQuantiles,
      interactions: quantiles(
        trajectories.filter(({ group }) => split.train.has(group)).map(({ length }) => length),
        SCORE_LEVELS,
      ),
      sourceTokens: quantiles(
        training.flat().map((pair) => pairs.sourceTokens[pair] as number),
        SCORE_LEVELS,
      ),
    },
    groups: withSeen(hashSplit(dataset, split), outcome.fineTuning),
    parent: parentOf(outcome),
    data: { ...data.inputs, files: data.files },
    engine: { ...final.engine, node },
    source,
  }
}

function hashSplit({ manifest }: Dataset, split: RotationSplit): HashedSplit {
  return { training: hashedIds(manifest, split.train), validation: hashedIds(manifest, split.validation) }
}

/** What a starting router has seen is seen for good, whether it stands in this dataset or not. */
function withSeen({ training, validation }: HashedSplit, fineTuning: FineTuning | null): HashedSplit {
  return { training: [...new Set([...training, ...(fineTuning?.parent.seenGroups ?? [])])].sort(), validation }
}

function parentOf(outcome: {
  readonly final: TrainedRouter
  readonly fineTuning: FineTuning | null
}): RouterManifest['parent'] {
  if (outcome.fineTuning === null) return null
  const { validation } = invariant(outcome.final.start, 'a fine-tuned model knows what it started from')
  return { ...outcome.fineTuning.parent, validation }
}

function prevalence(dataset: Dataset, trajectories: readonly TrajectoryPairs[]): number {
  return countPositives(dataset, trajectories) / Math.max(1, trajectories.flat().length)
}

function prevalenceByDomain(dataset: Dataset): Readonly<Record<string, number>> {
  const domains = [...new Set(dataset.trajectories.map(({ domain }) => domain))].sort()
  return Object.fromEntries(
    domains.map((domain) => {
      const groups = new Set(dataset.trajectories.filter((one) => one.domain === domain).map(({ group }) => group))
      return [domain, prevalence(dataset, pairsOfGroups(dataset, groups))]
    }),
  )
}
