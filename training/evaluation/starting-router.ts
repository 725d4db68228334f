/**
 * The router that fine-tuning started from, as a baseline of the fine-tuned one: its logits on the same test pairs, of groups
 * that it has never seen.
 */

import { AppError } from '../../src/errors.ts'
import { sigmoid } from '../../src/router/decide.ts'
import type { HeldOutPredictions } from './held-out-predictions.ts'
import type { RotationScores } from './measure-predictor.ts'
import type { RotationTest } from './rotation-test.ts'

export const STARTING_ROUTER = {
  name: 'starting-router',
  description: 'the router that fine-tuning started from, unchanged; it never saw the test groups',
} as const

/** @returns null for a router that was trained from nothing. @throws router-invalid where a pair has no logit */
export function startingRouterScores(
  predictions: readonly HeldOutPredictions[],
  tests: readonly RotationTest[],
): readonly RotationScores[] | null {
  if (predictions.every(({ start }) => start === undefined)) return null
  return tests.map((test) => {
    const start = predictions.find((one) => one.rotation === test.rotation)?.start
    const logitOf = new Map(Array.from(start?.pairs ?? [], (pair, i) => [pair, start?.logits[i]]))
    const scores = Float64Array.from(test.rows, (pair) => {
      const logit = logitOf.get(pair)
      if (logit === undefined)
        throw new AppError(
          'router-invalid',
          `the router that fine-tuning started from has no prediction for test pair ${pair} of rotation ${test.rotation}: ` +
            're-run keepready train --from on this dataset',
        )
      return logit
    })
    return { test, scores, probabilities: scores.map(sigmoid), calibrated: null, operatingPoints: [] }
  })
}
