/**
 * The observations of all targets as word counts, tokenised once for all rotations. It knows nothing of labels or
 * splits: which words form a vocabulary is decided per rotation, from training documents only.
 */
import type { PairTable } from '../../data/store/dataset.ts'
import { observationText } from '../../src/trajectory/interaction-text.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'

/** Words of two or more letters, digits and underscores, lower-cased: scikit-learn's token pattern. */
const WORD = /[\p{L}\p{N}_]{2,}/gu
/** Assumption: what decides readiness stands in the first 20,000 characters (about the 5,120 tokens of a view). */
const MAX_CHARS = 20_000

export interface ObservationCorpus {
  /** (pairs) document number of the pair's interaction. */
  readonly documentOf: Int32Array
  /** Word numbers and how often each occurs, per document. */
  readonly documents: readonly WordCounts[]
  /** Word of a word number. */
  readonly words: readonly string[]
}

export interface WordCounts {
  readonly words: Uint32Array
  readonly counts: Uint32Array
}

/** @param trajectories the dataset's runs in dataset order */
export function createObservationCorpus(pairs: PairTable, trajectories: readonly Trajectory[]): ObservationCorpus {
  const documentOf = new Int32Array(pairs.count)
  const documents: WordCounts[] = []
  const numberOf = new Map<string, number>()
  const known = new Map<string, number>()
  for (let pair = 0; pair < pairs.count; pair++) {
    const trajectory = pairs.trajectory[pair] ?? 0
    const interaction = pairs.interaction[pair] ?? 0
    const key = `${trajectory}/${interaction}`
    let document = known.get(key)
    if (document === undefined) {
      document = documents.length
      known.set(key, document)
      const source = trajectories[trajectory]?.interactions[interaction]
      documents.push(countWords(source === undefined ? '' : observationText(source), numberOf))
    }
    documentOf[pair] = document
  }
  return { documentOf, documents, words: [...numberOf.keys()] }
}

function countWords(text: string, numberOf: Map<string, number>): WordCounts {
  const counts = new Map<number, number>()
  for (const [word] of text.slice(0, MAX_CHARS).toLowerCase().matchAll(WORD)) {
    let number = numberOf.get(word)
    if (number === undefined) {
      number = numberOf.size
      numberOf.set(word, number)
    }
    counts.set(number, (counts.get(number) ?? 0) + 1)
  }
  return { words: Uint32Array.from(counts.keys()), counts: Uint32Array.from(counts.values()) }
}
