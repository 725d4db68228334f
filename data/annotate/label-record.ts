/**
 * Label rows (labels.jsonl): one per trajectory, written by every annotator alike (DESIGN section 9).
 */
export const LABEL_SCHEMA_VERSION = 1

/** A literal quote that must stand in S_interaction; kind says what it supports. */
export interface EvidenceItem {
  readonly kind: 'uptake' | 'veto'
  /** j: where the quote stands. */
  readonly interaction: number
  readonly quote: string
  /**
   * Counterfactual annotator: how much more probable S_i made the action of that interaction than placebos did, and what
   * it had to exceed; nats.
   */
  readonly gain?: number | undefined
  readonly threshold?: number | undefined
}

/** The verdict on one interaction over all checkpoints: READY exactly for c >= boundary. */
export interface InteractionLabel {
  readonly interaction: number
  /** b_i, the earliest supported READY checkpoint (b_i >= i + 2, i never the newest); null = KEEP everywhere. */
  readonly boundary: number | null
  readonly evidence: readonly EvidenceItem[]
  readonly reason: string
}

export interface LabelRow {
  readonly schemaVersion: typeof LABEL_SCHEMA_VERSION
  readonly trajectory: string
  readonly annotator: string
  /** N of the trajectory the labels were made from. */
  readonly interactionCount: number
  readonly labels: readonly InteractionLabel[]
}

/** y(i,c): 1 = READY, 0 = KEEP. */
export function labelAt(label: InteractionLabel, checkpoint: number): 0 | 1 {
  return label.boundary !== null && checkpoint >= label.boundary ? 1 : 0
}
