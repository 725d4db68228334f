/**
 * A stage-2 answer: strict as it is asked for, tolerant as it is read.
 */
import { z } from 'zod'
import { answerFormat, describeIssues, TOLERANT } from './answer-schema.schema.ts'
import type { Quote } from './stage-one.schema.ts'

const quoted = z.object({ interaction: z.int(), quote: z.string() })

const asked = z.object({
  rechecks: z.array(z.object({ checkpoint: z.int(), supported: z.boolean(), reason: z.string() })),
  vetoes: z.array(quoted),
  dismissed: z.array(z.object({ interaction: z.int(), reason: z.string() })),
  overruled: z.array(z.object({ checkpoint: z.int(), reason: z.string() })),
  boundary: z.int().nullable(),
  evidence: z.array(quoted),
  reason: z.string(),
})

export const STAGE_TWO_ANSWER = answerFormat('stage_two_verdict', asked)

export interface StageTwoVerdict {
  readonly rechecks: readonly { readonly checkpoint: number; readonly supported: boolean }[]
  readonly vetoes: readonly Quote[]
  /** Interactions whose stage-1 veto is said not to hold, with a reason. */
  readonly dismissed: readonly { readonly interaction: number; readonly reason: string }[]
  /** Checkpoints whose KEEP is said to be wrong, with a reason. */
  readonly overruled: readonly { readonly checkpoint: number; readonly reason: string }[]
  readonly boundary: number | null
  readonly evidence: readonly Quote[]
  readonly reason: string
}

function listOf<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z
    .array(item)
    .nullish()
    .transform((value) => value ?? [])
}

const read = z.object({
  rechecks: listOf(z.object({ checkpoint: TOLERANT.index, supported: z.boolean() })),
  vetoes: TOLERANT.quotes,
  dismissed: listOf(z.object({ interaction: TOLERANT.index, reason: TOLERANT.text })),
  overruled: listOf(z.object({ checkpoint: TOLERANT.index, reason: TOLERANT.text })),
  boundary: TOLERANT.index.nullable(),
  evidence: TOLERANT.quotes,
  reason: TOLERANT.text,
})

export type ReadVerdict =
  | { readonly ok: true; readonly verdict: StageTwoVerdict }
  | { readonly ok: false; readonly problem: string }

/** A missing boundary is a problem, not a KEEP: silence must be told from a verdict. */
export function readStageTwoVerdict(value: unknown): ReadVerdict {
  const parsed = read.safeParse(value)
  if (parsed.success) return { ok: true, verdict: parsed.data }
  return { ok: false, problem: describeIssues(parsed.error) }
}
