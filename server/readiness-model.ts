/**
 * The trained router together with the frozen LM it was trained on, behind the bounded queue: what the history service
 * asks for logits and thresholds.
 */
import type { Extraction, Extractor } from '../models/frozen-lm/extraction.ts'
import { type CheckpointScores, scoreCheckpoint } from '../models/router/score-checkpoint.ts'
import type { Scorer } from '../models/router/scorer.ts'
import type { OperatingPointName, OperatingPoints } from '../src/router/operating-points.ts'
import type { Trajectory } from '../src/trajectory/trajectory.ts'
import { estimateViewTokens } from '../src/view/estimate-view-tokens.ts'
import type { StageClock } from './stage-clock.ts'
import type { TokenQueue } from './token-queue.ts'

export interface ScoreCall {
  readonly trajectory: Trajectory
  readonly checkpoint: number
  readonly signal: AbortSignal
  readonly clock: StageClock
}

export interface ReadinessModel {
  readonly defaultOperatingPoint: OperatingPointName
  readonly operatingPoints: OperatingPoints
  /** @throws queue-full, deadline-exceeded, host-crashed and the extractor's errors */
  score(call: ScoreCall): Promise<CheckpointScores>
}

export interface ReadinessModelParts {
  readonly scorer: Scorer
  /** Null for a router that reads evidence alone. */
  readonly extractor: Extractor | null
  readonly queue: TokenQueue
  readonly operatingPoints: OperatingPoints
  readonly defaultOperatingPoint: OperatingPointName
  readonly nowMs: () => number
  readonly onExtraction: (extraction: Extraction) => void
}

export function createReadinessModel(parts: ReadinessModelParts): ReadinessModel {
  const { scorer, extractor, queue } = parts
  return {
    defaultOperatingPoint: parts.defaultOperatingPoint,
    operatingPoints: parts.operatingPoints,
    async score({ trajectory, checkpoint, signal, clock }) {
      const tokens =
        extractor === null ? 0 : estimateViewTokens(trajectory, checkpoint, extractor.representation.recipe)
      const askedMs = parts.nowMs()
      const scores = await queue.submit({
        tokens,
        signal,
        run: async () => {
          clock.add('queue', parts.nowMs() - askedMs)
          const startMs = parts.nowMs()
          const scored = await scoreCheckpoint({ trajectory, checkpoint, extractor, scorer, signal })
          const lmMs = ((scored.extraction?.tokenizeUs ?? 0) + (scored.extraction?.inferenceUs ?? 0)) / 1000
          clock.add('score', Math.max(0, parts.nowMs() - startMs - lmMs))
          return scored
        },
      })
      if (scores.extraction !== null) {
        clock.add('tokenize', scores.extraction.tokenizeUs / 1000)
        clock.add('inference', scores.extraction.inferenceUs / 1000)
        parts.onExtraction(scores.extraction)
      }
      return scores
    },
  }
}
