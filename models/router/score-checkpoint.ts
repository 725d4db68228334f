/**
 * From one checkpoint of a trajectory to a logit per target: the online path, and the one that evaluation's parity test
 * compares with the trainer. Uses the same vectors, Top-k mean and evidence code as training.
 */
import { AppError } from '../../src/errors.ts'
import { evidenceFeatures } from '../../src/evidence/online-features.ts'
import { DEFAULT_TOP_K, topMean, topNeighbours } from '../../src/router/top-mean.ts'
import { type Matrix, matrixFromRows } from '../../src/tensor/matrix.ts'
import { type Trajectory, targetsAt } from '../../src/trajectory/trajectory.ts'
import type { Extraction, Extractor } from '../frozen-lm/extraction.ts'
import type { Scorer } from './scorer.ts'

export interface CheckpointScores {
  /** Canonical indices of the targets, in order. */
  readonly interactions: readonly number[]
  /** One logit per target. */
  readonly logits: Float32Array
  /** Null when the router reads no hidden states. */
  readonly extraction: Extraction | null
}

export interface CheckpointInput {
  readonly trajectory: Trajectory
  readonly checkpoint: number
  /** Null is allowed only for a router that reads evidence alone. */
  readonly extractor: Extractor | null
  readonly scorer: Scorer
  readonly signal?: AbortSignal
}

/** @throws what the extractor throws; invariant when a vector the router needs is missing */
export async function scoreCheckpoint(input: CheckpointInput): Promise<CheckpointScores> {
  const { trajectory, checkpoint, scorer } = input
  const interactions = targetsAt(trajectory, checkpoint).map((target) => target.index)
  if (interactions.length === 0) return { interactions, logits: new Float32Array(0), extraction: null }

  const evidence = evidenceFeatures(trajectory, checkpoint)
  const x: Matrix = {
    data: evidence.values,
    rows: interactions.length,
    cols: evidence.values.length / interactions.length,
  }
  if (scorer.spec.inputs === 'evidence') {
    const { logits } = await scorer.score({ h: null, q: null, m: null, x })
    return { interactions, logits, extraction: null }
  }

  if (input.extractor === null)
    throw new AppError('invariant', `router of ${scorer.spec.inputs} scored without a frozen LM`)
  const extraction = await input.extractor.extract({ trajectory, checkpoints: [checkpoint] }, { signal: input.signal })
  const h = matrixFromRows(
    interactions.map((interaction) => candidateVector(extraction, interaction, checkpoint)),
    scorer.spec.hiddenSize,
  )
  const neighbours = topNeighbours({ vectors: h, k: DEFAULT_TOP_K })
  const m = topMean({ vectors: h, neighbours, k: DEFAULT_TOP_K })
  const { logits } = await scorer.score({ h, q: stateVector(extraction, checkpoint), m, x })
  return { interactions, logits, extraction }
}

function candidateVector(extraction: Extraction, interaction: number, checkpoint: number): Float32Array {
  const found = extraction.vectors.find(
    (vector) =>
      vector.role === 'h' &&
      vector.interaction === interaction &&
      (vector.checkpoint === null || vector.checkpoint === checkpoint),
  )
  if (found === undefined)
    throw new AppError('invariant', `no h for interaction ${interaction} at checkpoint ${checkpoint}`)
  return found.values
}

function stateVector(extraction: Extraction, checkpoint: number): Float32Array {
  const found = extraction.vectors.find((vector) => vector.role === 'q' && vector.checkpoint === checkpoint)
  if (found === undefined) throw new AppError('invariant', `no q for checkpoint ${checkpoint}`)
  return found.values
}
