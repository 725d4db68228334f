/**
 * What one rotation's model says about its own test part: all that evaluation needs to know of a router.
 */
import type { InputKind } from '../../models/router/spec.ts'
import type { IsotonicMap } from '../../src/metrics/isotonic.ts'

export interface HeldOutPredictions {
  readonly inputs: InputKind
  readonly rotation: 0 | 1 | 2 | 3 | 4
  /** (n) pair numbers of the dataset, and the logit of each. */
  readonly pairs: ArrayLike<number>
  readonly logits: ArrayLike<number>
  /** Of the validation pairs that thresholds and calibration are chosen on; without them policies are not studied. */
  readonly validation?: { readonly pairs: ArrayLike<number>; readonly logits: ArrayLike<number> }
  /** The same test pairs by the router that fine-tuning started from; left out where training started from nothing. */
  readonly start?: { readonly pairs: ArrayLike<number>; readonly logits: ArrayLike<number> }
  /** Chosen on this rotation's validation part; null: READY is never predicted. */
  readonly operatingPoints: readonly { readonly name: string; readonly tauLogit: number | null }[]
  /** Logit -> calibrated probability; null: not calibrated. */
  readonly calibration: IsotonicMap | null
}
