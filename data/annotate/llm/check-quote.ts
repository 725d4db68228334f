/**
 * Holds a quote of a model against the run: literally, in the right interaction, on the right side of the checkpoint.
 */
import { literalKeys } from '../../../src/evidence/literals.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { evidenceProblem } from '../check-evidence.ts'
import type { EvidenceItem } from '../label-record.ts'
import type { FailureCode, Problem } from './failure.ts'
import type { RunText } from './run-text.ts'
import type { Quote } from './stage-one.schema.ts'

/** A quote of fewer bytes (UTF-8: four Chinese characters) counts only if it is distinctive: "the file" stands everywhere. */
const MIN_QUOTE_BYTES = 12
const MIN_NAME_CHARS = 4
/** Longer ones are passages: they would make label files copies of the logs. */
const MAX_QUOTE_CHARS = 600

export interface QuoteClaim {
  readonly kind: EvidenceItem['kind']
  readonly target: number
  readonly checkpoint: number
  readonly quote: Quote
}

/** What is wrong with it; null if it holds, in what was sent and in the original. */
export function quoteProblem(run: RunText, claim: QuoteClaim): Problem | null {
  const { kind, target, checkpoint, quote } = claim
  const item: EvidenceItem = { kind, ...quote }
  const what = kind === 'veto' ? 'future dependency' : 'evidence'
  const problem = (code: FailureCode, message: string): Problem => ({ code, message: `${what}: ${message}` })
  if (isMisplaced(run.sent, claim))
    return problem(
      kind === 'veto' ? 'misplaced-veto' : 'misplaced-evidence',
      `interaction ${quote.interaction} is not ${kind === 'veto' ? `from ${checkpoint} on` : `after ${target} and before ${checkpoint}`}`,
    )
  const words = quote.quote.replace(/\s+/g, ' ').trim()
  if (!isRecognisable(words))
    return problem('weak-quote', `the quote ${JSON.stringify(words)} is too short to be recognised`)
  if (words.length > MAX_QUOTE_CHARS)
    return problem(
      'weak-quote',
      `a quote of interaction ${quote.interaction} has more than ${MAX_QUOTE_CHARS} characters`,
    )
  const unsent = evidenceProblem(run.sent, { target, checkpoint, item })
  if (unsent !== null) return problem('false-quote', `interaction ${quote.interaction}: ${shorten(unsent)}`)
  if (run.sent !== run.original && evidenceProblem(run.original, { target, checkpoint, item }) !== null)
    return problem(
      'masked-quote',
      `the quote of interaction ${quote.interaction} holds a masked secret: quote other words`,
    )
  return null
}

/** The first problem of several quotes. */
export function quotesProblem(
  run: RunText,
  claims: Omit<QuoteClaim, 'quote'> & { readonly quotes: readonly Quote[] },
): Problem | null {
  const { quotes, ...claim } = claims
  for (const quote of quotes) {
    const problem = quoteProblem(run, { ...claim, quote })
    if (problem !== null) return problem
  }
  return null
}

/** Long enough, or with a literal (id, number, path, symbol) or a capital letter (a name) in it. */
function isRecognisable(words: string): boolean {
  if (Buffer.byteLength(words) >= MIN_QUOTE_BYTES || literalKeys(words).size > 0) return true
  return words.length >= MIN_NAME_CHARS && /\p{Lu}/u.test(words)
}

function isMisplaced(trajectory: Trajectory, { kind, target, checkpoint, quote }: QuoteClaim): boolean {
  const j = quote.interaction
  if (!trajectory.interactions.some((interaction) => interaction.index === j)) return true
  return kind === 'veto' ? j < checkpoint || j <= target : j >= checkpoint || j <= target
}

function shorten(message: string): string {
  return message.length > 200 ? `${message.slice(0, 200)}...` : message
}
