/**
 * A history that its provider would refuse, repaired before it is planned, with what the caller said about it carried over.
 */
import { AppError } from '../src/errors.ts'
import type { History, SplitHistory } from '../src/protocol/history.ts'
import type { Change } from '../src/protocol/repair/change.ts'
import { followInteractions, followPins } from '../src/protocol/repair/follow-interactions.ts'
import { repairHistory } from '../src/protocol/repair/repair-history.ts'
import { splitHistory } from '../src/protocol/split-history.ts'
import { blockingViolations, validateHistory } from '../src/protocol/validate-history.ts'
import type { PlanRequest } from './wire/requests.schema.ts'

export interface RepairedRequest {
  readonly history: History
  readonly request: PlanRequest
  /** Empty: history and request are those given. */
  readonly changes: readonly Change[]
}

/**
 * Only where the caller asked for it, the history is invalid, and the repair makes it valid; else it stays as it came.
 * @throws request-invalid for labels of interactions that the given history does not have
 */
export function repairRequest(given: History, request: PlanRequest): RepairedRequest {
  const asIs = { history: given, request, changes: [] }
  if (request.repair === null || blockingViolations(validateHistory(given)).length === 0) return asIs
  const { danglingCalls } = request.repair
  const repair = repairHistory(given, { danglingCalls, thinkingBinding: request.thinkingBinding })
  if (blockingViolations(repair.remaining).length > 0) return asIs
  const before = splitHistory(given)
  const repaired = splitHistory(repair.history)
  const moved = followInteractions(before, repaired, repair)
  const { labelledReady } = request
  if (labelledReady !== null) refuseUnknownLabels(before, labelledReady)
  return {
    history: repair.history,
    changes: repair.changes,
    request: {
      ...request,
      pins: followPins(request.pins, { given: before, repaired, moved }),
      labelledReady:
        labelledReady === null ? null : new Set([...labelledReady].flatMap((index) => moved.get(index) ?? [])),
    },
  }
}

/** @throws request-invalid */
export function refuseUnknownLabels(split: SplitHistory, labelled: ReadonlySet<number>): void {
  const known = new Set(split.interactions.map((interaction) => interaction.index))
  const unknown = [...labelled].filter((index) => !known.has(index))
  if (unknown.length === 0) return
  throw new AppError(
    'request-invalid',
    `labels name interactions that the history does not have: ${unknown.join(', ')} (it has ${known.size})`,
  )
}
