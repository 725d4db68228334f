/**
 * A line of a corrections file: what a reviewer says about one interaction. Unknown keys are errors.
 */
import { z } from 'zod'
import type { Correction } from '../annotate/apply-corrections.ts'

const index = z.int().nonnegative()

const correction = z.strictObject({
  run: z.string().min(1),
  interaction: index,
  boundary: index.nullable(),
  evidence: z
    .array(z.strictObject({ kind: z.enum(['uptake', 'veto']), interaction: index, quote: z.string().min(1) }))
    .exactOptional(),
  reason: z.string().min(1),
  // Names are joined by commas behind a plus sign in the annotator's name.
  reviewer: z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u, {
    message: 'must be a name of letters, digits, blanks and . _ @ -',
  }),
})

/** `problem` names every wrong field. */
export function parseCorrection(
  value: unknown,
):
  | { readonly ok: true; readonly correction: Correction }
  | { readonly ok: false; readonly problems: readonly string[] } {
  const result = correction.safeParse(value)
  if (result.success) return { ok: true, correction: result.data }
  return {
    ok: false,
    problems: result.error.issues.map((issue) => `${issue.path.join('.') || 'the line'}: ${issue.message}`),
  }
}
