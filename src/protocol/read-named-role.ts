/**
 * The role of a message whose format names it in `role`. Pure.
 */
import type { HistoryFormat, MessageRole } from './history.ts'
import type { JsonPath } from './json-pointer.ts'
import { type JsonObject, malformed } from './segment.ts'

/** @throws history-malformed for a role that the format does not have */
export function readNamedRole(
  value: JsonObject,
  path: JsonPath,
  known: { readonly format: HistoryFormat; readonly roles: Readonly<Record<string, MessageRole>> },
): MessageRole {
  const role = typeof value.role === 'string' && Object.hasOwn(known.roles, value.role) ? known.roles[value.role] : null
  if (role === null || role === undefined)
    throw malformed([...path, 'role'], `one of the roles of ${known.format}: ${Object.keys(known.roles).join(', ')}`)
  return role
}
