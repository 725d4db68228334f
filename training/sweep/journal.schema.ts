/** Lines of a sweep's journal.jsonl: one per finished job. */
import { z } from 'zod'

/** Raised when lines change in a way that older readers would misread. */
export const JOURNAL_SCHEMA_VERSION = 1

const metrics = z.strictObject({
  trajectories: z.number().int(),
  pairs: z.number().int(),
  positives: z.number().int(),
  withinAuroc: z.number().nullable(),
  prAuc: z.number().nullable(),
  lossNats: z.number(),
})
const common = {
  schemaVersion: z.literal(JOURNAL_SCHEMA_VERSION),
  /** What the result depends on (training/resume/job-key.ts). */
  key: z.string(),
}
const journalLine = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('validation'),
    bestEpoch: z.number().int(),
    metrics,
    /** Validation runs that hold both classes: number of the trajectory, AUROC inside it. */
    runs: z.array(z.tuple([z.number().int(), z.number()])),
  }),
  /** The loss diverged: the same job would do so again. */
  z.strictObject({ ...common, kind: z.literal('failure'), code: z.string(), message: z.string() }),
  z.strictObject({
    ...common,
    kind: z.literal('test'),
    bestEpoch: z.number().int(),
    metrics,
    /** Held-out pairs of the dataset, and the logit of each. */
    pairs: z.array(z.number().int()),
    logits: z.array(z.number()),
  }),
])
export type JournalLine = z.infer<typeof journalLine>
export type ValidationLine = Extract<JournalLine, { kind: 'validation' | 'failure' }>
export type TestLine = Extract<JournalLine, { kind: 'test' }>

/** @returns null for a line that a kill cut short or that another version wrote: its job runs again */
export function parseJournalLine(text: string): JournalLine | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const result = journalLine.safeParse(value)
  return result.success ? result.data : null
}
