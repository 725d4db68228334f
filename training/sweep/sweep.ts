/**
 * A nested search (DESIGN section 13): in each rotation every configuration is trained and looked at on that rotation's own
 * validation part; the choice is sealed; only then is the test part opened, for the chosen configuration alone. So the test
 * figures measure "search, then train", and no test row can have been part of a choice (test-vault.ts).
 *
 * Resumable: finished jobs stand in the journal under a hash of all that decides them.
 */
import { assignParts, ROTATIONS, type RotationSplit, rotationSplit } from '../../data/rotations.ts'
import type { Dataset } from '../../data/store/dataset.ts'
import { invariant } from '../../src/errors.ts'
import { pairsPerEpoch } from '../epoch-order.ts'
import { createRotationTest, type RotationTest } from '../evaluation/rotation-test.ts'
import { jobKey } from '../resume/job-key.ts'
import { pairsOfGroups } from '../split-pairs.ts'
import type { TrainedRouter, TrainJob } from '../train-rotation.ts'
import { JOURNAL_SCHEMA_VERSION, type JournalLine } from './journal.schema.ts'
import { recordSweep } from './record-sweep.ts'
import { type JobBatch, runInLanes } from './run-in-lanes.ts'
import type { SweepConfiguration } from './search-space.ts'
import type { SweepRecord } from './sweep-record.ts'
import type { SweepRequest } from './sweep-request.ts'
import { createTestVault, type TestVault } from './test-vault.ts'
import { type JobsHooks, type JobTracker, trackJobs } from './track-jobs.ts'
import { validationRuns } from './validation-runs.ts'

interface PlannedJob {
  readonly rotation: number
  readonly configuration: SweepConfiguration
  readonly job: TrainJob
  readonly key: string
  /** Upper bound of the pairs trained on. */
  readonly pairs: number
}

/** What the choice of a rotation may know: no pair of its test groups. */
interface RotationPlan {
  readonly rotation: (typeof ROTATIONS)[number]
  readonly split: RotationSplit
  readonly pairsPerEpoch: number
  /** The validation part, laid out for metrics. */
  readonly validation: RotationTest
}

/** @throws training-data-insufficient, interrupted, disk-full and what the engine throws; finished jobs stay in the journal */
export async function sweep(request: SweepRequest, hooks: JobsHooks = {}): Promise<SweepRecord> {
  const { configurations, journal } = request
  const parts = assignParts(invariant(request.datasets[0], 'a sweep has a dataset').trajectories, request.seed)
  const splitOf = (rotation: number): RotationSplit =>
    rotationSplit(parts, invariant(ROTATIONS[rotation], 'the rotation exists'))
  const vault = createTestVault({ read: request.read, configurations, splitOf })
  const plans: RotationPlan[] = []
  for (const rotation of ROTATIONS)
    plans.push(await planRotation(request, vault, { rotation, split: splitOf(rotation) }))
  const validations = plans.map((plan) => configurations.map((one) => planJob(request, plan, one, 'validation')))
  const progress = planProgress(request, validations.flat(), hooks)
  await runMissing(request, progress, {
    jobs: validations.flat(),
    kinds: ['validation', 'failure'],
    open: ({ rotation, configuration }) => vault.view(configuration.dataset, rotation),
    lineOf: (key, result, dataset) => ({
      schemaVersion: JOURNAL_SCHEMA_VERSION,
      kind: 'validation',
      key,
      bestEpoch: result.bestEpoch,
      metrics: result.validation,
      runs: validationRuns(dataset, result.validationPredictions),
    }),
  })
  const lines = validations.map((jobs) =>
    jobs.map(({ key }) => invariant(journal.find(key, ['validation', 'failure']), 'every configuration was tried')),
  )
  const choices = plans.map(({ rotation }, at) =>
    vault.seal(
      rotation,
      (lines[at] ?? []).map((line) => (line.kind === 'validation' ? line.metrics : null)),
    ),
  )
  const tests = choices.map((choice, at) => ({
    ...planJob(request, invariant(plans[at], 'a rotation was planned'), choice.configuration, 'test'),
    choice,
  }))
  await runMissing(request, progress, {
    jobs: tests,
    kinds: ['test'],
    open: ({ choice }) => vault.openTest(choice),
    lineOf: (key, result) => ({
      schemaVersion: JOURNAL_SCHEMA_VERSION,
      kind: 'test',
      key,
      bestEpoch: result.bestEpoch,
      metrics: result.test,
      pairs: [...result.testPredictions.pairs],
      logits: [...result.testPredictions.logits],
    }),
  })
  return recordSweep({
    request,
    validations: plans.map(({ validation }, at) => ({ test: validation, lines: lines[at] ?? [] })),
    splits: plans.map(({ split }) => split),
    choices,
    tests: await Promise.all(
      tests.map(async ({ choice, key, rotation }) => ({
        test: createRotationTest(await vault.openTest(choice), {
          rotation,
          testGroups: splitOf(rotation).test,
          resamples: request.resamples,
          seed: request.seed,
        }),
        line: invariant(journal.find(key, ['test']), 'the chosen configuration was tested'),
      })),
    ),
  })
}

async function planRotation(
  request: SweepRequest,
  vault: TestVault,
  { rotation, split }: Pick<RotationPlan, 'rotation' | 'split'>,
): Promise<RotationPlan> {
  request.signal?.throwIfAborted()
  const view = await vault.view(0, rotation)
  const validation = createRotationTest(view, {
    rotation,
    testGroups: split.validation,
    resamples: request.resamples,
    seed: request.seed,
  })
  return { rotation, split, pairsPerEpoch: pairsPerEpoch(pairsOfGroups(view, split.train)), validation }
}

function planJob(
  request: SweepRequest,
  plan: RotationPlan,
  configuration: SweepConfiguration,
  purpose: 'validation' | 'test',
): PlannedJob {
  const { rotation, split } = plan
  const { inputs, config, dataset } = configuration
  const job: TrainJob = {
    inputs,
    rotation,
    split: purpose === 'test' ? split : { ...split, test: new Set() },
    config,
    backend: request.backend,
  }
  const { key } = invariant(request.datasets[dataset], 'the dataset is known')
  return {
    rotation,
    configuration,
    job,
    key: jobKey(key, job, request.environment),
    pairs: config.epochs * plan.pairsPerEpoch,
  }
}

/** Test jobs are known after the choices: until then each rotation counts as the mean of its configurations. */
function planProgress(
  request: SweepRequest,
  validations: readonly PlannedJob[],
  hooks: JobsHooks,
): JobTracker<PlannedJob> {
  const missing = validations.filter(({ key }) => request.journal.find(key, ['validation', 'failure']) === null)
  const done = validations.length - missing.length
  const all = validations.reduce((sum, { pairs }) => sum + pairs, 0)
  hooks.onPlan?.({
    jobs: validations.length + ROTATIONS.length,
    done,
    pairs: missing.reduce((sum, { pairs }) => sum + pairs, 0) + all / request.configurations.length,
  })
  return trackJobs(done, hooks)
}

async function runMissing<Job extends PlannedJob>(
  request: SweepRequest,
  progress: JobTracker<PlannedJob>,
  work: {
    readonly jobs: readonly Job[]
    readonly kinds: readonly JournalLine['kind'][]
    readonly open: (job: Job) => Promise<Dataset>
    readonly lineOf: (key: string, result: TrainedRouter, dataset: Dataset) => JournalLine
  },
): Promise<void> {
  const { journal, signal, lanes, runJobs } = request
  const batches = new Map<string, JobBatch<Job> & { readonly jobs: { readonly job: TrainJob; readonly tag: Job }[] }>()
  for (const job of work.jobs) {
    if (journal.find(job.key, work.kinds) !== null) continue
    const name = `${job.rotation}/${job.configuration.dataset}`
    const batch = batches.get(name) ?? { open: () => work.open(job), jobs: [] }
    batch.jobs.push({ job: job.job, tag: job })
    batches.set(name, batch)
  }
  await runInLanes(
    [...batches.values()],
    { lanes, runJobs },
    {
      signal,
      onStep: progress.step,
      onResult(job, result, dataset) {
        journal.append(work.lineOf(job.key, result, dataset))
        progress.end(job)
      },
      onDiverged(job, { code, message }) {
        journal.append({ schemaVersion: JOURNAL_SCHEMA_VERSION, kind: 'failure', key: job.key, code, message })
        progress.end(job)
      },
    },
  )
}
