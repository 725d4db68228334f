/**
 * A row of labels.jsonl: what one annotator says about one run. Unknown keys are errors.
 */
import { z } from 'zod'
import { LABEL_SCHEMA_VERSION, type LabelRow } from '../annotate/label-record.ts'
import { type CheckedRow, checkRow } from './checked-row.schema.ts'

const index = z.int().nonnegative()

const evidenceItem = z.strictObject({
  kind: z.enum(['uptake', 'veto']),
  interaction: index,
  quote: z.string().min(1),
  gain: z.number().optional(),
  threshold: z.number().optional(),
})

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

/** Checks one parsed line; `problem` names the first wrong field. */
export function parseLabelRow(value: unknown): CheckedRow<LabelRow> {
  return checkRow(row, LABEL_SCHEMA_VERSION, value)
}
