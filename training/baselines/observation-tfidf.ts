/**
 * Baseline: what the observation's words alone say, whatever the state. Vocabulary and idf from training groups only.
 */
import type { Baseline } from './baseline.ts'
import { sparseMatrix } from './design-matrix.ts'
import { fitSharedRows } from './shared-rows.ts'
import { fitTfidf, tfidfRows } from './tfidf.ts'

export const OBSERVATION_TFIDF: Baseline = {
  name: 'observation-tfidf-lr',
  description: 'logistic regression on TF-IDF words of the observation, blind to the state',
  probabilistic: true,
  fit(context) {
    const { corpus } = context
    const keyOf = (pair: number): number => corpus.documentOf[pair] ?? 0
    const model = fitTfidf(corpus, [...new Set(Array.from(context.train, keyOf))])
    return fitSharedRows(context, {
      keyOf,
      matrixOf: (documents) => sparseMatrix(tfidfRows(corpus, documents, model)),
    })
  },
}
