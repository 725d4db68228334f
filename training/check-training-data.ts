/**
 * Refuses a dataset that training would waste an hour on: values that are no numbers, pairs that stand twice, classes that
 * are missing where a rotation needs them. One pass over the vectors, a second or two at paper size.
 */
import { assignParts, PARTS, type Part, ROTATIONS } from '../data/rotations.ts'
import type { Dataset } from '../data/store/dataset.ts'
import { openVectorReader } from '../data/store/vector-reader.ts'
import { AppError } from '../src/errors.ts'

/** Where groups can be dealt otherwise, the message names the first seed that works. */
const SEEDS_TRIED = 50

/**
 * @param options.vectors false for inputs that read none
 * @throws dataset-invalid naming the pair or vector, training-data-insufficient for one class only
 */
export function checkTrainingData(dataset: Dataset, options: { readonly vectors: boolean }): void {
  requireUniquePairs(dataset)
  requireBothClasses(dataset)
  requireFiniteEvidence(dataset)
  if (options.vectors) requireFiniteVectors(dataset)
}

/**
 * Every part validates or tests somewhere: one without a READY pair measures nothing and chooses no threshold.
 * @throws training-data-insufficient naming the parts
 */
export function requireReadyParts(dataset: Dataset, parts: ReadonlyMap<string, Part>): void {
  const empty = partsWithoutReady(dataset, parts)
  if (empty.length === 0) return
  const names = empty.map((part) => {
    const groups = [...parts].filter(([, own]) => own === part).length
    return `part ${part} (${groups} ${groups === 1 ? 'group' : 'groups'})`
  })
  const seed = Array.from({ length: SEEDS_TRIED }, (_, k) => k + 1).find(
    (candidate) => partsWithoutReady(dataset, assignParts(dataset.trajectories, candidate)).length === 0,
  )
  throw new AppError(
    'training-data-insufficient',
    `${names.join(', ')} of the ${PARTS.length} parts that rotations are made of ${empty.length === 1 ? 'holds' : 'hold'} no READY pair, ` +
      `so nothing can be chosen or tested there: import or label more runs${
        seed === undefined ? '' : `, or deal the groups otherwise with --seed ${seed}`
      }`,
    { details: { parts: empty.map(String), seed: seed ?? null } },
  )
}

function partsWithoutReady(dataset: Dataset, parts: ReadonlyMap<string, Part>): readonly Part[] {
  const { pairs, trajectories } = dataset
  const found = new Set<Part>()
  for (let pair = 0; pair < pairs.count; pair++) {
    if (pairs.label[pair] !== 1) continue
    const part = parts.get(trajectories[pairs.trajectory[pair] as number]?.group ?? '')
    if (part !== undefined) found.add(part)
  }
  return PARTS.filter((part) => !found.has(part))
}

function requireUniquePairs(dataset: Dataset): void {
  const { pairs } = dataset
  const first = new Map<string, number>()
  for (let pair = 0; pair < pairs.count; pair++) {
    const key = `${pairs.trajectory[pair]}/${pairs.checkpoint[pair]}/${pairs.interaction[pair]}`
    const earlier = first.get(key)
    if (earlier !== undefined)
      throw invalid(dataset, `pair ${pair} (${namePair(dataset, pair)}) stands at ${earlier} already`)
    first.set(key, pair)
  }
}

function requireBothClasses({ directory, pairs }: Dataset): void {
  const ready = pairs.label.reduce((sum, label) => sum + label, 0)
  if (ready > 0 && ready < pairs.count) return
  throw new AppError(
    'training-data-insufficient',
    `the ${pairs.count} pairs of ${directory} are of one class only (${ready === 0 ? 'KEEP' : 'READY'}), ` +
      `and ${ROTATIONS.length} rotations need both: import or label more runs (keepready labels shows the prevalence)`,
    { details: { pairs: pairs.count, ready } },
  )
}

function requireFiniteEvidence(dataset: Dataset): void {
  const { evidence, evidenceSize } = dataset.pairs
  const wrong = evidence.findIndex((value) => !Number.isFinite(value))
  if (wrong === -1) return
  const pair = Math.floor(wrong / evidenceSize)
  const name = dataset.manifest.evidenceNames[wrong % evidenceSize] ?? wrong % evidenceSize
  throw invalid(dataset, `evidence ${name} of pair ${pair} (${namePair(dataset, pair)}) is ${evidence[wrong]}`)
}

/** Exponent bits of an f16 that is infinite or no number. */
const F16_NOT_FINITE = 0x7c00

function requireFiniteVectors(dataset: Dataset): void {
  const reader = openVectorReader(dataset.vectors)
  try {
    for (let row = 0; row < dataset.vectors.rows; row++) {
      const at = firstNotFinite(reader.read(row))
      if (at !== -1) throw invalid(dataset, `vector ${row} (${nameRow(dataset, row)}) is not finite at dimension ${at}`)
    }
  } finally {
    reader.close()
  }
}

function firstNotFinite(values: Uint16Array | Float32Array): number {
  if (values instanceof Float32Array) {
    for (let k = 0; k < values.length; k++) if (!Number.isFinite(values[k])) return k
    return -1
  }
  for (let k = 0; k < values.length; k++) if (((values[k] as number) & F16_NOT_FINITE) === F16_NOT_FINITE) return k
  return -1
}

function nameRow(dataset: Dataset, row: number): string {
  const { pairs } = dataset
  const h = pairs.hRow.indexOf(row)
  if (h !== -1) return `h of ${namePair(dataset, h)}`
  const q = pairs.qRow.indexOf(row)
  return q === -1 ? 'of no pair' : `q of run ${runOf(dataset, q)}, checkpoint ${pairs.checkpoint[q]}`
}

function namePair(dataset: Dataset, pair: number): string {
  const { interaction, checkpoint } = dataset.pairs
  return `run ${runOf(dataset, pair)}, interaction ${interaction[pair]} at checkpoint ${checkpoint[pair]}`
}

function runOf({ trajectories, pairs }: Dataset, pair: number): string {
  return trajectories[pairs.trajectory[pair] as number]?.id ?? '?'
}

function invalid({ directory }: Dataset, why: string): AppError {
  return new AppError(
    'dataset-invalid',
    `${directory} cannot be trained on: ${why}: make the dataset again with \`keepready extract ... --fresh\``,
    { details: { path: directory } },
  )
}
