/**
 * A stage-1 answer: strict as it is asked for, tolerant as it is read. One bad record does not spoil the others.
 */
import { z } from 'zod'
import { answerFormat, describeIssues, TOLERANT } from './answer-schema.schema.ts'

const quoted = z.object({ interaction: z.int(), quote: z.string() })

const asked = z.object({
  records: z.array(
    z.object({
      interaction: z.int(),
      task_progress: z.string(),
      observation_complexity: z.enum(['low', 'medium', 'high']),
      next_needs: z.string(),
      remaining_utility: z.enum(['none', 'low', 'high']),
      evidence: z.array(quoted),
      future_dependency: quoted.nullable(),
      judgement: z.enum(['READY', 'KEEP']),
      reason: z.string(),
    }),
  ),
})

export const STAGE_ONE_ANSWER = answerFormat('stage_one_records', asked)

/** What the paper calls the annotation of one pair (i, c), before it is checked. */
export interface StageOneRecord {
  readonly interaction: number
  readonly taskProgress: string
  readonly observationComplexity: string
  readonly nextNeeds: string
  /** null: not one of the three. */
  readonly remainingUtility: 'none' | 'low' | 'high' | null
  readonly evidence: readonly Quote[]
  readonly futureDependency: Quote | null
  readonly judgement: 'READY' | 'KEEP'
  readonly reason: string
}

export interface Quote {
  readonly interaction: number
  readonly quote: string
}

const upper = z.string().transform((value) => value.trim().toUpperCase())
const lower = z.string().transform((value) => value.trim().toLowerCase())

const read = z
  .object({
    interaction: TOLERANT.index,
    task_progress: TOLERANT.text,
    observation_complexity: TOLERANT.text,
    next_needs: TOLERANT.text,
    remaining_utility: lower
      .pipe(z.enum(['none', 'low', 'high']))
      .nullable()
      .catch(null),
    evidence: TOLERANT.quotes,
    future_dependency: z
      .object({ interaction: TOLERANT.index, quote: z.string() })
      .nullish()
      .transform((value) => value ?? null),
    judgement: upper.pipe(z.enum(['READY', 'KEEP'])),
    reason: TOLERANT.text,
  })
  .transform(
    (record): StageOneRecord => ({
      interaction: record.interaction,
      taskProgress: record.task_progress,
      observationComplexity: record.observation_complexity,
      nextNeeds: record.next_needs,
      remainingUtility: record.remaining_utility,
      evidence: record.evidence,
      futureDependency: record.future_dependency,
      judgement: record.judgement,
      reason: record.reason,
    }),
  )

export type ReadRecord =
  | { readonly ok: true; readonly record: StageOneRecord }
  /** `interaction`: which target it was for, where that much can be read. */
  | { readonly ok: false; readonly interaction: number | null; readonly problem: string }

const named = z.object({ interaction: TOLERANT.index })

export function readStageOneRecord(value: unknown): ReadRecord {
  const parsed = read.safeParse(value)
  if (parsed.success) return { ok: true, record: parsed.data }
  const name = named.safeParse(value)
  return { ok: false, interaction: name.success ? name.data.interaction : null, problem: describeIssues(parsed.error) }
}

/** The list of records in an answer: `{records: [...]}`, or the list alone; null if there is none. */
export function recordsIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value
  const parsed = z.object({ records: z.array(z.unknown()) }).safeParse(value)
  return parsed.success ? parsed.data.records : null
}
