/**
 * One run as the annotator sees it.
 */
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'

export interface RunText {
  /** What labels are for: quotes must stand in it. */
  readonly original: Trajectory
  /** What may be sent: the original, or the original with secrets masked. The same interactions and turns. */
  readonly sent: Trajectory
}
