/**
 * Which texts of an interaction are read for literals. Pure.
 *
 * Tool names and argument names are left out: they are the vocabulary of the tool definitions, which belong to the head,
 * and not something that the first interaction that called a tool brought in. Argument values are read decoded, so that
 * `\n` and `\"` of the JSON text do not glue words together.
 */
import type { Interaction, ToolCall } from '../trajectory/trajectory.ts'
import { scanLiterals, type VisitLiteral, visitQuoted } from './literals.ts'

/** Nesting beyond this is not read. Assumption: real tool arguments stay below 10. */
const MAX_DEPTH = 32

/** Literals of R_i and A_i: what an interaction takes up stands here. */
export function scanReasoningAndAction(interaction: Interaction, visit: VisitLiteral): void {
  scanLiterals(interaction.reasoning, visit)
  scanLiterals(interaction.text, visit)
  for (const call of interaction.toolCalls) scanArguments(call, visit)
}

/** Literals of O_i. */
export function scanObservations(interaction: Interaction, visit: VisitLiteral): void {
  for (const observation of interaction.observations) scanLiterals(observation.content, visit)
}

/** What the arguments say: every string and number inside them, decoded; the text itself where it is no JSON container. */
export function readArguments(call: ToolCall): { readonly decoded: boolean; readonly values: readonly string[] } {
  const parsed = parseArguments(call.arguments)
  if (parsed === undefined) return { decoded: false, values: [call.arguments] }
  const values: string[] = []
  collect(parsed, values, 0)
  return { decoded: true, values }
}

function scanArguments(call: ToolCall, visit: VisitLiteral): void {
  const { decoded, values } = readArguments(call)
  for (const value of values) {
    if (decoded) visitQuoted(value.trim(), visit)
    scanLiterals(value, visit)
  }
}

/** undefined: not JSON, or no object or list (then the text itself is the action). */
function parseArguments(text: string): unknown {
  const first = text.trimStart().charAt(0)
  if (first !== '{' && first !== '[') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function collect(value: unknown, into: string[], depth: number): void {
  if (typeof value === 'string') into.push(value)
  else if (typeof value === 'number') into.push(String(value))
  else if (depth < MAX_DEPTH && Array.isArray(value)) for (const item of value) collect(item, into, depth + 1)
  else if (depth < MAX_DEPTH && typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collect(item, into, depth + 1)
}
