/**
 * runs + labels -> dataset directory (DESIGN section 12). Stages, each resumable by what its files say:
 * parts (one per trajectory) -> vectors.arrow -> trajectories.jsonl -> pairs.arrow -> manifest.json.
 * Killed at any point and run again, the same bytes come out; the number of workers does not matter either.
 */
import { join } from 'node:path'
import type { LabelRow } from '../data/annotate/label-record.ts'
import { findNearDuplicates } from '../data/near-duplicates.ts'
import type { DatasetManifest, PairTable } from '../data/store/dataset.ts'
import {
  type FileSeam,
  nodeFiles,
  translateWriteFailure,
  UNFINISHED,
  type WrittenFile,
  writeTextWhole,
} from '../data/store/file-seam.ts'
import { hashFile } from '../data/store/hash-file.ts'
import {
  MANIFEST_FILE,
  PAIRS_FILE,
  partPath,
  partsPath,
  TRAJECTORIES_FILE,
  VECTORS_FILE,
} from '../data/store/layout.ts'
import { DATASET_SCHEMA_VERSION, type ExtractionOptions, formatManifest } from '../data/store/manifest.schema.ts'
import { openStore, type StoreState } from '../data/store/open-store.ts'
import { writePairs } from '../data/store/pair-file.ts'
import { checkFiles, readStoredManifest } from '../data/store/read-dataset.ts'
import { writeRuns } from '../data/store/runs.ts'
import { toTrajectoryVectors } from '../data/store/trajectory-vectors.ts'
import { openVectors, readPart, writePart, writeVectors } from '../data/store/vector-files.ts'
import type { ExtractionProgress, Extractor } from '../models/frozen-lm/extraction.ts'
import { type Representation, representationId } from '../models/frozen-lm/representation.ts'
import { AppError } from '../src/errors.ts'
import { EVIDENCE_NAMES } from '../src/evidence/online-features.ts'
import { DEFAULT_TOP_K } from '../src/router/top-mean.ts'
import type { Trajectory } from '../src/trajectory/trajectory.ts'
import { buildPairs } from './build-pairs.ts'
import { DEFAULT_MAX_CHECKPOINTS_PER_RUN } from './choose-checkpoints.ts'
import { extractParts } from './extract-parts.ts'
import { type ExtractionPlan, planExtraction, toDatasetTrajectory } from './plan-extraction.ts'

export interface ExtractOptions {
  readonly runs: readonly Trajectory[]
  readonly labels: readonly LabelRow[]
  /** SHA-256 of the files that runs and labels came from. */
  readonly inputs: { readonly runsSha256: string; readonly labelsSha256: string }
  /** Of every extractor that `startExtractor` makes; known without loading the model. */
  readonly representation: Representation
  readonly startExtractor: () => Promise<Extractor>
  /** Dataset directory. */
  readonly out: string
  /** Default 64. */
  readonly maxCheckpointsPerRun?: number
  /** Default 0. */
  readonly seed?: number
  /** Extractors at work at the same time; default 1. */
  readonly workers?: number
  /** Removes an older dataset in `out` first. */
  readonly fresh?: boolean
  readonly onProgress?: (progress: ExtractProgress) => void
  readonly signal?: AbortSignal
  readonly files?: FileSeam
}

export interface ExtractProgress {
  readonly stage: 'extract' | 'pairs'
  readonly trajectoriesDone: number
  readonly trajectories: number
  /** Of this run of the program, without what was reused. A view ends in one vector. */
  readonly viewsDone: number
  readonly views: number
  readonly computedTokens: number
}

export interface ExtractResult {
  readonly directory: string
  readonly manifest: DatasetManifest
  /** Trajectories whose vectors were there already. */
  readonly reusedTrajectories: number
  /** The whole dataset was there already, with these labels. */
  readonly unchanged: boolean
  /** Ids of runs without a checkpoint. */
  readonly dropped: readonly string[]
  /** Tokens that this run of the program computed. */
  readonly computedTokens: number
  /** Tokens that it did not compute because the prefix cache held a state behind them. */
  readonly savedTokens: number
}

type TokenCounts = Pick<ExtractResult, 'computedTokens' | 'savedTokens'>

interface Job {
  readonly directory: string
  readonly files: FileSeam
  readonly representation: Representation
  readonly options: ExtractionOptions
  readonly plan: ExtractionPlan
  readonly signal: AbortSignal
  readonly report: (progress: ExtractProgress) => void
}

/**
 * @throws option-invalid (made with other options: another `out`, or `fresh`), labels-mismatch, rows-invalid,
 *   training-data-insufficient, disk-full, file-unreadable (not writable), dataset-invalid, the signal's reason, and what extractors throw
 */
export async function extractDataset(given: ExtractOptions): Promise<ExtractResult> {
  try {
    return await runStages(given)
  } catch (thrown) {
    throw translateWriteFailure(thrown, given.out)
  }
}

async function runStages(given: ExtractOptions): Promise<ExtractResult> {
  const { representation, maxCheckpointsPerRun = DEFAULT_MAX_CHECKPOINTS_PER_RUN, seed = 0 } = given
  const { runs, labels, inputs, out, files = nodeFiles } = given
  const job: Job = {
    directory: out,
    files,
    representation,
    options: {
      schemaVersion: DATASET_SCHEMA_VERSION,
      representationId: representationId(representation),
      representation,
      maxCheckpointsPerRun,
      seed,
      runsSha256: inputs.runsSha256,
    },
    plan: planExtraction({ runs, labels, recipe: representation.recipe.name, maxCheckpointsPerRun, seed }),
    signal: given.signal ?? new AbortController().signal,
    report: given.onProgress ?? (() => undefined),
  }
  const trajectories = job.plan.runs.length
  const store = await openStore({
    files,
    directory: out,
    options: job.options,
    trajectories,
    fresh: given.fresh ?? false,
  })
  const reusedTrajectories = store.vectorsComplete ? trajectories : store.parts.size
  const tokens = store.vectorsComplete ? { computedTokens: 0, savedTokens: 0 } : await extractVectors(job, store, given)
  await files.remove(partsPath(out))
  if (!store.trajectoriesComplete)
    await writeRuns(
      join(out, TRAJECTORIES_FILE),
      job.plan.runs.map((run) => run.trajectory),
      files,
    )
  const reused = store.manifestThere ? await reusableManifest(job, inputs.labelsSha256) : null
  return {
    directory: out,
    manifest: reused ?? (await labelVectors(job, inputs)),
    reusedTrajectories,
    unchanged: reused !== null,
    dropped: job.plan.dropped,
    ...tokens,
  }
}

/** Makes the missing parts, then vectors.arrow. */
async function extractVectors(
  job: Job,
  store: StoreState,
  given: Pick<ExtractOptions, 'workers' | 'startExtractor'>,
): Promise<TokenCounts> {
  const { directory, files, representation, plan, signal } = job
  const jobs = plan.runs.flatMap(({ trajectory, checkpoints, views }, index) =>
    store.parts.has(index) ? [] : [{ index, request: { trajectory, checkpoints }, size: views }],
  )
  const views = jobs.reduce((sum, { size }) => sum + size, 0)
  const done = { trajectories: store.parts.size, views: 0, tokens: 0, savedTokens: 0 }
  /** What is known of the trajectories at work, by index. */
  const atWork = new Map<number, ExtractionProgress>()
  const report = (): void => {
    const begun = [...atWork.values()]
    job.report({
      stage: 'extract',
      trajectoriesDone: done.trajectories,
      trajectories: plan.runs.length,
      viewsDone: done.views + begun.reduce((sum, progress) => sum + progress.views, 0),
      views,
      computedTokens: done.tokens + begun.reduce((sum, progress) => sum + progress.computedTokens, 0),
    })
  }
  report()
  await extractParts({
    jobs,
    workers: given.workers ?? 1,
    representation,
    startExtractor: given.startExtractor,
    signal,
    onProgress: ({ index }, progress) => {
      atWork.set(index, progress)
      report()
    },
    async onExtracted({ index, request, size }, extraction) {
      const vectors = toTrajectoryVectors(extraction, representation)
      const { computedTokens, prefixCache } = extraction
      // What the views take without a cache: the dataset's bytes do not depend on what was remembered.
      const viewTokens = computedTokens + prefixCache.savedTokens
      const id = request.trajectory.id
      await writePart({ files, directory, index, id, representation, part: { vectors, computedTokens: viewTokens } })
      atWork.delete(index)
      done.trajectories += 1
      done.views += size
      done.tokens += computedTokens
      done.savedTokens += prefixCache.savedTokens
      report()
    },
  })
  await assembleVectors(job)
  return { computedTokens: done.tokens, savedTokens: done.savedTokens }
}

async function assembleVectors({ directory, files, representation, plan, signal }: Job): Promise<void> {
  const ids = plan.runs.map(({ trajectory }) => trajectory.id)
  const read = async (index: number): ReturnType<typeof readPart> => {
    signal.throwIfAborted()
    try {
      return await readPart({ directory, index, id: ids[index] ?? '', representation })
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'dataset-invalid') throw thrown
      await files.remove(partPath(directory, index))
      throw new AppError(
        'dataset-incomplete',
        `${thrown.message.split(':')[0]}: it is removed; re-run keepready extract with the same options to make it again`,
        { cause: thrown, details: { ...thrown.details } },
      )
    }
  }
  let computedTokens = 0
  for (let index = 0; index < ids.length; index++) computedTokens += (await read(index)).computedTokens
  await writeVectors({
    files,
    path: join(directory, VECTORS_FILE),
    ids,
    representation,
    computedTokens,
    readPart: read,
  })
}

/**
 * The manifest when the dataset is complete and has these labels and this program's features, else null.
 * @throws dataset-invalid when a file does not fit it
 */
async function reusableManifest(job: Job, labelsSha256: string): Promise<DatasetManifest | null> {
  const stored = await readStoredManifest(job.directory)
  await checkFiles(job.directory, stored, { verify: true })
  const { manifest, topK } = stored
  const same =
    manifest.inputs.labelsSha256 === labelsSha256 &&
    topK === DEFAULT_TOP_K &&
    manifest.groupMerges !== undefined &&
    manifest.evidenceNames.join() === EVIDENCE_NAMES.join()
  return same ? manifest : null
}

/** pairs.arrow and manifest.json from vectors.arrow: the only stage that reads labels. */
async function labelVectors(job: Job, inputs: ExtractOptions['inputs']): Promise<DatasetManifest> {
  const { directory, files, representation, options, plan } = job
  const { groupOf, merges } = findNearDuplicates(plan.runs.map(({ trajectory }) => trajectory))
  const trajectories = plan.runs.map(({ trajectory }) => toDatasetTrajectory(trajectory, groupOf))
  const counts = { pairs: 0, ready: 0, vectors: 0 }
  // A failure while writing leaves the older dataset whole: its manifest goes when the new pairs are on the disk.
  const next = join(directory, `${PAIRS_FILE}.next${UNFINISHED}`)
  const vectors = await openVectors(join(directory, VECTORS_FILE), representation)
  let pairsFile: WrittenFile
  try {
    async function* tables(): AsyncGenerator<PairTable> {
      for (const [index, { trajectory, checkpoints, labels, views }] of plan.runs.entries()) {
        job.signal.throwIfAborted()
        const batch = await vectors.readTrajectory(index)
        const source = { trajectory, index, checkpoints, labels, vectors: batch, firstRow: counts.vectors }
        const table = buildPairs({ ...source, topK: DEFAULT_TOP_K })
        counts.vectors += batch.rows
        counts.pairs += table.count
        counts.ready += table.label.reduce((sum, label) => sum + label, 0)
        yield table
        const all = plan.runs.length
        job.report({
          stage: 'pairs',
          trajectoriesDone: index + 1,
          trajectories: all,
          viewsDone: views,
          views,
          computedTokens: 0,
        })
      }
    }
    pairsFile = await writePairs({
      files,
      path: next,
      trajectories,
      topK: DEFAULT_TOP_K,
      evidenceSize: EVIDENCE_NAMES.length,
      tables: tables(),
    })
  } finally {
    await vectors.close()
  }
  await files.remove(join(directory, MANIFEST_FILE))
  await files.rename(next, join(directory, PAIRS_FILE))
  await files.syncDirectory(directory)
  const written = {
    [VECTORS_FILE]: await hashFile(join(directory, VECTORS_FILE)),
    [PAIRS_FILE]: pairsFile,
    [TRAJECTORIES_FILE]: await hashFile(join(directory, TRAJECTORIES_FILE)),
  }
  const manifest: DatasetManifest = {
    schemaVersion: DATASET_SCHEMA_VERSION,
    representationId: options.representationId,
    representation,
    recipe: representation.recipe.name,
    evidenceNames: EVIDENCE_NAMES,
    maxCheckpointsPerRun: options.maxCheckpointsPerRun,
    seed: options.seed,
    inputs,
    files: Object.fromEntries(Object.entries(written).map(([name, file]) => [name, file.sha256])),
    groupMerges: merges,
    counts: {
      trajectories: trajectories.length,
      groups: new Set(trajectories.map((trajectory) => trajectory.group)).size,
      ...counts,
      computedTokens: vectors.computedTokens,
    },
  }
  const fileSizes = Object.fromEntries(Object.entries(written).map(([name, file]) => [name, file.sizeBytes]))
  await writeTextWhole(
    files,
    join(directory, MANIFEST_FILE),
    formatManifest({ manifest, trajectories, topK: DEFAULT_TOP_K, fileSizes }),
  )
  return manifest
}
