/**
 * What of a conversation the provider holds, so that a list of items does not show it. Pure.
 */
import type { History } from '../history.ts'
import { itemType } from './item-kind.ts'

/** The list goes on from a stored response or conversation: nothing of it may be pruned (R5). */
export function continuesStored(request: History['request']): boolean {
  return isSet(request.previous_response_id) || isSet(request.conversation)
}

/** Items before number `index` may stand at the provider: referenced, compacted, or in the response this one continues. */
export function mayHoldEarlier(history: History, index: number): boolean {
  if (continuesStored(history.request)) return true
  return history.messages.slice(0, index).some(({ value }) => {
    const type = itemType(value) ?? ''
    return type === 'item_reference' || type.startsWith('compaction')
  })
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
