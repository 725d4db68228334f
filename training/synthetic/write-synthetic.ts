/**
 * Writes a made dataset in the store's own format, one run in memory at a time.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { DatasetTrajectory, PairTable } from '../../data/store/dataset.ts'
import { nodeFiles, writeTextWhole } from '../../data/store/file-seam.ts'
import { hashFile } from '../../data/store/hash-file.ts'
import { MANIFEST_FILE, PAIRS_FILE, TRAJECTORIES_FILE, VECTORS_FILE } from '../../data/store/layout.ts'
import { DATASET_SCHEMA_VERSION, formatManifest } from '../../data/store/manifest.schema.ts'
import { writePairs } from '../../data/store/pair-file.ts'
import { writeRuns } from '../../data/store/runs.ts'
import { writeVectors } from '../../data/store/vector-files.ts'
import { createRepresentation, representationId } from '../../models/frozen-lm/representation.ts'
import type { Interaction, Trajectory } from '../../src/trajectory/trajectory.ts'
import { createRecipe } from '../../src/view/recipe.ts'
import {
  rowPlan,
  SYNTHETIC_EVIDENCE,
  SYNTHETIC_TOP_K,
  syntheticPairs,
  syntheticScores,
  syntheticVectors,
} from './synthetic-run.ts'
import { lengthAt, type SyntheticSpec } from './synthetic-spec.ts'

/**
 * @param directory must be empty or absent; a dataset that `readDataset` reads
 * @throws disk-full, file-unreadable
 */
export async function writeSynthetic(directory: string, spec: SyntheticSpec): Promise<void> {
  const files = nodeFiles
  const trajectories = Array.from({ length: spec.trajectories }, (_, t): DatasetTrajectory => {
    const id = `run-${String(t).padStart(4, '0')}`
    return { id, group: `synthetic/${id}`, domain: 'synthetic', length: lengthAt(spec.lengths, t) }
  })
  const representation = createRepresentation({
    model: { name: 'synthetic', architecture: 'none', hiddenSize: spec.hiddenSize, filesSha256: '0'.repeat(64) },
    layer: 1,
    storageDtype: spec.storageDtype,
    recipe: createRecipe(spec.recipe),
  })
  await files.makeDirectory(directory)
  const vectorsOf = syntheticVectors(spec)
  const vectors = await writeVectors({
    files,
    path: join(directory, VECTORS_FILE),
    ids: trajectories.map(({ id }) => id),
    representation,
    computedTokens: 0,
    readPart: async (t) => ({ vectors: vectorsOf(t), computedTokens: 0 }),
  })
  const threshold = thresholdOf(spec)
  const counts = { pairs: 0, ready: 0, vectors: 0 }
  async function* tables(): AsyncGenerator<PairTable> {
    for (const [t, { length }] of trajectories.entries()) {
      const table = syntheticPairs(spec, { trajectory: t, firstRow: counts.vectors, threshold })
      counts.vectors += rowPlan(spec, length).count
      counts.pairs += table.count
      counts.ready += table.label.reduce((sum, label) => sum + label, 0)
      yield table
    }
  }
  const pairs = await writePairs({
    files,
    path: join(directory, PAIRS_FILE),
    trajectories,
    topK: SYNTHETIC_TOP_K,
    evidenceSize: SYNTHETIC_EVIDENCE.length,
    tables: tables(),
  })
  await writeRuns(join(directory, TRAJECTORIES_FILE), trajectories.map(toRun), files)
  const written = {
    [VECTORS_FILE]: vectors,
    [PAIRS_FILE]: pairs,
    [TRAJECTORIES_FILE]: await hashFile(join(directory, TRAJECTORIES_FILE)),
  }
  const sha256 = createHash('sha256').update(JSON.stringify(spec)).digest('hex')
  const manifest = {
    schemaVersion: DATASET_SCHEMA_VERSION,
    representationId: representationId(representation),
    representation,
    recipe: representation.recipe.name,
    evidenceNames: SYNTHETIC_EVIDENCE,
    maxCheckpointsPerRun: Math.max(...spec.lengths),
    seed: spec.seed,
    inputs: { runsSha256: sha256, labelsSha256: sha256 },
    files: Object.fromEntries(Object.entries(written).map(([name, file]) => [name, file.sha256])),
    groupMerges: [],
    counts: { trajectories: trajectories.length, groups: trajectories.length, ...counts, computedTokens: 0 },
  }
  const fileSizes = Object.fromEntries(Object.entries(written).map(([name, file]) => [name, file.sizeBytes]))
  await writeTextWhole(
    files,
    join(directory, MANIFEST_FILE),
    formatManifest({ manifest, trajectories, topK: SYNTHETIC_TOP_K, fileSizes }),
  )
}

/** The score that the wanted share of all pairs exceeds. */
function thresholdOf(spec: SyntheticSpec): number {
  const all = Array.from({ length: spec.trajectories }, (_, t) => syntheticScores(spec, t))
  const scores = new Float64Array(all.reduce((sum, own) => sum + own.length, 0))
  let start = 0
  for (const own of all) {
    scores.set(own, start)
    start += own.length
  }
  scores.sort()
  return scores[Math.floor((1 - spec.prevalence) * (scores.length - 1))] ?? 0
}

function toRun({ id, group, domain, length }: DatasetTrajectory, line: number): Trajectory {
  return {
    schemaVersion: 1,
    id,
    group,
    domain,
    format: 'synthetic',
    system: '',
    task: `Task of ${id}.`,
    interactions: Array.from({ length }, (_, index) => toInteraction(id, index)),
    turns: [],
    truncated: false,
    parent: null,
    source: { file: 'synthetic.jsonl', line: line + 1 },
  }
}

function toInteraction(run: string, index: number): Interaction {
  return {
    index,
    actor: null,
    reasoning: `${run}: step ${index}`,
    text: '',
    toolCalls: [{ id: `call-${index}`, name: 'look', arguments: `{"at":${index}}` }],
    observations: [{ callId: `call-${index}`, content: `${run} item ${index}`, isError: false }],
    source: { file: 'synthetic.jsonl', index },
  }
}
