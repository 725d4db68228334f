/**
 * TF-IDF over word counts: a vocabulary with idf weights learnt from some documents, applied to any. Pure.
 */
import type { SparseRows } from './design-matrix.ts'
import type { ObservationCorpus } from './observation-corpus.ts'

export interface TfidfOptions {
  /** The most frequent words by document frequency are kept, ties to the word seen first. */
  readonly maxWords: number
  /** A word must stand in at least this many of the learning documents. */
  readonly minDocuments: number
}

export const DEFAULT_TFIDF: TfidfOptions = { maxWords: 20_000, minDocuments: 2 }

export interface TfidfModel {
  /** Word number -> column. */
  readonly columnOf: ReadonlyMap<number, number>
  /** (columns) ln((1 + D) / (1 + df)) + 1, scikit-learn's smooth idf. */
  readonly idf: Float64Array
}

/** @param documents document numbers to learn from: those of training groups */
export function fitTfidf(
  corpus: ObservationCorpus,
  documents: readonly number[],
  options: TfidfOptions = DEFAULT_TFIDF,
): TfidfModel {
  const frequency = new Map<number, number>()
  for (const document of documents)
    for (const word of corpus.documents[document]?.words ?? []) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  const kept = [...frequency]
    .filter(([, count]) => count >= options.minDocuments)
    .sort(([a, m], [b, n]) => n - m || a - b)
    .slice(0, options.maxWords)
  return {
    columnOf: new Map(kept.map(([word], column) => [word, column])),
    idf: Float64Array.from(kept, ([, count]) => Math.log((1 + documents.length) / (1 + count)) + 1),
  }
}

/** Rows (1 + ln tf) * idf, scaled to length 1; words outside the vocabulary are dropped. */
export function tfidfRows(corpus: ObservationCorpus, documents: readonly number[], model: TfidfModel): SparseRows {
  const starts = new Uint32Array(documents.length + 1)
  const columns: number[] = []
  const values: number[] = []
  documents.forEach((document, r) => {
    const first = values.length
    const counts = corpus.documents[document]
    let squares = 0
    counts?.words.forEach((word, at) => {
      const column = model.columnOf.get(word)
      if (column === undefined) return
      const value = (1 + Math.log(counts.counts[at] ?? 1)) * (model.idf[column] ?? 0)
      columns.push(column)
      values.push(value)
      squares += value * value
    })
    const norm = Math.sqrt(squares)
    for (let at = first; at < values.length; at++) values[at] = (values[at] ?? 0) / norm
    starts[r + 1] = values.length
  })
  return {
    starts,
    columns: Uint32Array.from(columns),
    values: Float64Array.from(values),
    cols: model.idf.length,
  }
}
