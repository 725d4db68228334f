/**
 * What running a case gave: the printable output, and the values that the checks look into. Pure types.
 */
import type { History, JsonValue, SplitHistory } from '../../protocol/history.ts'
import type { JsonObject } from '../../protocol/segment.ts'
import type { Trajectory } from '../../trajectory/trajectory.ts'
import type { CaseFile } from './case-file.schema.ts'

export interface CaseResult {
  readonly given: CaseFile
  /** The whole result of the operation, as printed. */
  readonly output: JsonObject
  /** The input as a history; null for logs and usage series. */
  readonly input: SplitHistory | null
  /** Canonical form of the input: of a history, or of the first run of a log. */
  readonly trajectory: Trajectory | null
  /** What would be sent: the list in its target format; null where the operation renders nothing. */
  readonly rendered: History | null
  /** Set when the operation threw. */
  readonly thrown: string | null
}

export type Verdict = 'pass' | 'fail' | 'unchecked'

/** One assert key: null means that it holds, a text says what is wrong. */
export type Check = (result: CaseResult, expected: JsonValue) => string | null
