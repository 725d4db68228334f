/**
 * A member of a Gemini part under either of its spellings. Pure.
 */
import type { JsonValue } from '../history.ts'
import type { JsonObject } from '../segment.ts'

type FieldName = 'functionCall' | 'functionResponse' | 'executableCode' | 'codeExecutionResult' | 'thoughtSignature'

const SNAKE_CASE: Readonly<Record<FieldName, string>> = {
  functionCall: 'function_call',
  functionResponse: 'function_response',
  executableCode: 'executable_code',
  codeExecutionResult: 'code_execution_result',
  thoughtSignature: 'thought_signature',
}

/** The field with the key that it stands under; null where it is absent or null (Python dumps write every field). */
export function partField(
  part: JsonObject,
  name: FieldName,
): { readonly key: string; readonly value: JsonValue } | null {
  for (const key of [name, SNAKE_CASE[name]]) {
    const value = part[key]
    if (value !== undefined && value !== null) return { key, value }
  }
  return null
}
