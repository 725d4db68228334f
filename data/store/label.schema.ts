/**
 * A row of labels.jsonl: what one annotator says about one run. Unknown keys are errors.
 */
import { z } from 'zod'
import { LABEL_SCHEMA_VERSION, type LabelRow } from '../annotate/label-record.ts'

const index = z.int().nonnegative()

const evidenceItem = z.strictObject({ kind: z.enum(['uptake', 'veto']), interaction: index, quote: z.string().min(1) })

const label = z
  .strictObject({
    interaction: index,
    boundary: index.nullable(),
    evidence: z.array(evidenceItem),
    reason: z.string(),
  })
  .superRefine((value, context) => {
    if (value.boundary !== null && value.boundary < value.interaction + 2)
      context.addIssue({
        code: 'custom',
        path: ['boundary'],
        message: `must be at least ${value.interaction + 2}: before that the interaction is the newest or to come`,
      })
  })

const row = z
  .strictObject({
    schemaVersion: z.literal(LABEL_SCHEMA_VERSION),
    trajectory: z.string().min(1),
    annotator: z.string().min(1),
    interactionCount: z.int().positive(),
    labels: z.array(label),
  })
  .superRefine((value, context) => {
    let last = -1
    value.labels.forEach((entry, position) => {
      if (entry.interaction <= last)
        context.addIssue({
          code: 'custom',
          path: ['labels', position, 'interaction'],
          message: `must be above ${last}: labels stand once each, in the order of the run`,
        })
      last = entry.interaction
    })
  })

export type LabelRowResult =
  | { readonly ok: true; readonly row: LabelRow }
  | { readonly ok: false; readonly problem: string }

/** Checks one parsed line; `problem` names the first wrong field. */
export function parseLabelRow(value: unknown): LabelRowResult {
  const version = typeof value === 'object' && value !== null && 'schemaVersion' in value ? value.schemaVersion : null
  if (typeof version === 'number' && version !== LABEL_SCHEMA_VERSION)
    return { ok: false, problem: `schemaVersion is ${version}, this program reads ${LABEL_SCHEMA_VERSION}` }
  const result = row.safeParse(value)
  if (result.success) return { ok: true, row: result.data }
  const issue = result.error.issues[0]
  return {
    ok: false,
    problem: issue === undefined ? 'wrong shape' : `${issue.path.join('.') || 'row'}: ${issue.message}`,
  }
}
