/**
 * What a dataset directory holds, from its manifest and its pairs; vectors are not read.
 */
import { join } from 'node:path'
import type { PairCount } from '../annotate/label-stats.ts'
import { MIN_FUTURE_INTERACTIONS } from '../annotate/label-stats.ts'
import type { GroupMerge } from '../near-duplicates.ts'
import { assignParts, PARTS } from '../rotations.ts'
import type { DatasetManifest, DatasetTrajectory, PairTable } from '../store/dataset.ts'
import { PAIRS_FILE } from '../store/layout.ts'
import { readPairs } from '../store/pair-file.ts'
import { checkFiles, readStoredManifest } from '../store/read-dataset.ts'
import { type Distribution, distributionOf } from './distribution.ts'

export interface DatasetCard {
  readonly kind: 'dataset'
  readonly manifest: DatasetManifest
  readonly byDomain: readonly (PairCount & {
    readonly name: string
    readonly runs: number
    readonly groups: number
    readonly withFuture: PairCount
  })[]
  readonly all: PairCount
  /** Pairs with at least MIN_FUTURE_INTERACTIONS to come: the headline's. */
  readonly withFuture: PairCount
  readonly interactionsPerRun: Distribution
  /** One value for each labelled interaction, by the frozen LM's tokenizer and by the acting model's. */
  readonly sourceTokens: Distribution
  readonly actingTokens: Distribution
  readonly viewTokens: Distribution
  /** Interactions whose view is cut, of all. */
  readonly truncatedViews: { readonly cut: number; readonly of: number }
  /** null: the dataset was made before near copies were looked for. */
  readonly nearCopies: readonly GroupMerge[] | null
  /** Groups in each part of the rotations with the dataset's own seed; null when there are too few. */
  readonly groupsPerPart: readonly number[] | null
}

/** @throws file-not-found, dataset-incomplete, dataset-invalid */
export async function inspectDataset(directory: string): Promise<DatasetCard> {
  const stored = await readStoredManifest(directory)
  await checkFiles(directory, stored, {})
  const { manifest, trajectories, topK } = stored
  const pairs = await readPairs(join(directory, PAIRS_FILE), {
    count: manifest.counts.pairs,
    topK,
    evidenceSize: manifest.evidenceNames.length,
  })
  const first = firstPairs(pairs)
  const at = (column: Int32Array): readonly number[] => first.map((pair) => column[pair] ?? 0)
  const isTrusted = (pair: number): boolean => (pairs.futureInteractions[pair] ?? 0) >= MIN_FUTURE_INTERACTIONS
  const domainOf = (pair: number): string => trajectories[pairs.trajectory[pair] ?? 0]?.domain ?? ''
  return {
    kind: 'dataset',
    manifest,
    byDomain: [...new Set(trajectories.map((run) => run.domain))].sort().map((name) => {
      const own = trajectories.filter((run) => run.domain === name)
      return {
        name,
        runs: own.length,
        groups: new Set(own.map((run) => run.group)).size,
        ...countPairs(pairs, (pair) => domainOf(pair) === name),
        withFuture: countPairs(pairs, (pair) => domainOf(pair) === name && isTrusted(pair)),
      }
    }),
    all: countPairs(pairs, () => true),
    withFuture: countPairs(pairs, isTrusted),
    interactionsPerRun: distributionOf(trajectories.map((run) => run.length)),
    sourceTokens: distributionOf(at(pairs.sourceTokens)),
    actingTokens: distributionOf(at(pairs.actingTokens)),
    viewTokens: distributionOf(at(pairs.viewTokens)),
    truncatedViews: { cut: at(pairs.truncatedTokens).filter((tokens) => tokens > 0).length, of: first.length },
    nearCopies: manifest.groupMerges ?? null,
    groupsPerPart: groupsPerPart(trajectories, manifest.seed),
  }
}

/** The first pair of each interaction: what depends on the interaction alone is counted once. */
function firstPairs(pairs: PairTable): readonly number[] {
  const seen = new Set<string>()
  const first: number[] = []
  for (let pair = 0; pair < pairs.count; pair++) {
    const key = `${pairs.trajectory[pair]} ${pairs.interaction[pair]}`
    if (seen.has(key)) continue
    seen.add(key)
    first.push(pair)
  }
  return first
}

function countPairs(pairs: PairTable, only: (pair: number) => boolean): PairCount {
  const counts = { pairs: 0, ready: 0 }
  for (let pair = 0; pair < pairs.count; pair++) {
    if (!only(pair)) continue
    counts.pairs++
    counts.ready += pairs.label[pair] ?? 0
  }
  return counts
}

function groupsPerPart(trajectories: readonly DatasetTrajectory[], seed: number): readonly number[] | null {
  if (new Set(trajectories.map((run) => run.group)).size < PARTS.length) return null
  const parts = [...assignParts(trajectories, seed).values()]
  return PARTS.map((part) => parts.filter((own) => own === part).length)
}
