/**
 * One versioned row of a JSONL file, checked by its schema: what runs.jsonl and labels.jsonl have in common.
 */
import type { z } from 'zod'

export type CheckedRow<T> = { readonly ok: true; readonly row: T } | { readonly ok: false; readonly problem: string }

/** Checks one parsed line; `problem` names another version, or the first wrong field. */
export function checkRow<T>(schema: z.ZodType<T>, version: number, value: unknown): CheckedRow<T> {
  const given = typeof value === 'object' && value !== null && 'schemaVersion' in value ? value.schemaVersion : null
  if (typeof given === 'number' && given !== version)
    return { ok: false, problem: `schemaVersion is ${given}, this program reads ${version}` }
  const result = schema.safeParse(value)
  if (result.success) return { ok: true, row: result.data }
  const issue = result.error.issues[0]
  return {
    ok: false,
    problem: issue === undefined ? 'wrong shape' : `${issue.path.join('.') || 'row'}: ${issue.message}`,
  }
}
