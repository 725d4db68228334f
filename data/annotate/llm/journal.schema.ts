/**
 * Lines of a journal of answers.
 */
import { z } from 'zod'
import type { ChatAnswer, ChatUsage } from '../../../models/chat/port.ts'

export const JOURNAL_SCHEMA_VERSION = 1

/** First line: tells a journal from any other file that a path could name. */
export const JOURNAL_HEADER = { kind: 'keepready-annotation-journal', schemaVersion: JOURNAL_SCHEMA_VERSION } as const

const count = z.int().nonnegative()
const usage = z.strictObject({ promptTokens: count, cachedTokens: count, outputTokens: count })

const outcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({ kind: z.literal('refusal'), text: z.string() }),
  z.strictObject({ kind: z.literal('max-tokens'), text: z.string() }),
  z.strictObject({ kind: z.literal('tool-call'), names: z.array(z.string()) }),
])

const answer = z.strictObject({
  kind: z.literal('answer'),
  key: z.string(),
  outcome,
  usage,
  /** The server told the usage; else it is our count. */
  counted: z.boolean(),
})

/** An attempt that broke off after the answer had begun. */
const lost = z.strictObject({ kind: z.literal('lost'), key: z.string(), usage })

const entry = z.discriminatedUnion('kind', [answer, lost])

export interface JournalAnswer {
  readonly kind: 'answer'
  /** callKey of the question. */
  readonly key: string
  readonly outcome: ChatAnswer
  readonly usage: ChatUsage
  readonly counted: boolean
}

export interface JournalLost {
  readonly kind: 'lost'
  readonly key: string
  readonly usage: ChatUsage
}

export type JournalEntry = JournalAnswer | JournalLost

/** null: not a line of a journal of this version. */
export function parseJournalEntry(value: unknown): JournalEntry | null {
  const parsed = entry.safeParse(value)
  return parsed.success ? parsed.data : null
}

export function isJournalHeader(value: unknown): boolean {
  return z
    .object({ kind: z.literal(JOURNAL_HEADER.kind), schemaVersion: z.literal(JOURNAL_SCHEMA_VERSION) })
    .safeParse(value).success
}
