/**
 * Masks secrets in text. The same secret has the same mask within one redactor, so that its later uses still link to it;
 * a mask is a number in order of appearance and says nothing about the secret. Pure.
 */
import type { RedactionRule } from './rule.ts'
import { REDACTION_RULES } from './rules.ts'

export interface Redactor {
  /** The text with every secret as `[redacted:<rule>:<number>]`. */
  redact(text: string): string
  /** Masks put in so far, by rule. */
  readonly counts: Readonly<Record<string, number>>
}

export interface RedactedText {
  readonly text: string
  readonly counts: Readonly<Record<string, number>>
}

export function redactText(text: string): RedactedText {
  const redactor = createRedactor()
  return { text: redactor.redact(text), counts: redactor.counts }
}

/** One per text or per trajectory. Holds the secrets it has met: not to be kept longer than that. */
export function createRedactor(): Redactor {
  const numberOf = new Map<string, number>()
  const counts: Record<string, number> = {}
  return {
    counts,
    redact(text) {
      const spans = findSecrets(text)
      if (spans.length === 0) return text
      let masked = ''
      let from = 0
      for (const { start, end, rule } of spans) {
        // A key that a terminal has wrapped is the same key.
        const secret = text.slice(start, end).replace(/[\r\n]+/g, '')
        const number = numberOf.get(secret) ?? numberOf.size + 1
        numberOf.set(secret, number)
        counts[rule] = (counts[rule] ?? 0) + 1
        masked += `${text.slice(from, start)}${MASK}${rule}:${number}]`
        from = end
      }
      return masked + text.slice(from)
    },
  }
}

interface SecretSpan {
  readonly start: number
  readonly end: number
  readonly rule: string
}

/** Half-open ranges of secrets, in order, disjoint; overlapping finds are one, named by the first rule. */
function findSecrets(text: string): readonly SecretSpan[] {
  const found = REDACTION_RULES.flatMap((rule) => findByRule(rule, text))
  if (found.length < 2) return found
  const spans: SecretSpan[] = []
  for (const span of found) {
    const overlapping = spans.findIndex((other) => span.start < other.end && other.start < span.end)
    const other = spans[overlapping]
    if (other === undefined) spans.push(span)
    else
      spans[overlapping] = {
        start: Math.min(span.start, other.start),
        end: Math.max(span.end, other.end),
        rule: other.rule,
      }
  }
  return spans.sort((a, b) => a.start - b.start)
}

function findByRule(rule: RedactionRule, text: string): readonly SecretSpan[] {
  const spans: SecretSpan[] = []
  for (const match of text.matchAll(rule.pattern)) {
    const start = match.index + (match.groups?.head?.length ?? 0)
    const end = wrappedEnd(text, match.index + match[0].length, rule.wraps)
    const secret = text.slice(start, end).replace(/[\r\n]+/g, '')
    if (secret.includes(MASK)) continue
    const quoted = /["'`]/.test(text.charAt(start - 1))
    if (rule.isSecret === undefined || rule.isSecret(secret, quoted)) spans.push({ start, end, rule: rule.id })
  }
  return spans
}

/** How a mask begins: what was masked before is no secret. */
const MASK = '[redacted:'

/** A terminal this wide or wider may have wrapped the line. */
const MIN_WRAPPED_LINE = 60

/**
 * Where a secret ends that reaches the end of a line as long as a terminal's and goes on at the start of the next one. The
 * next line's beginning counts only when it looks like the rest of a key and not like a word or a name that is assigned to.
 */
function wrappedEnd(text: string, matchEnd: number, wraps: RegExp | undefined): number {
  if (wraps === undefined) return matchEnd
  let end = matchEnd
  for (;;) {
    const next = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : text[end] === '\n' ? end + 1 : -1
    if (next === -1 || end - text.lastIndexOf('\n', end - 1) - 1 < MIN_WRAPPED_LINE) return end
    wraps.lastIndex = next
    const rest = wraps.exec(text)?.[0] ?? ''
    const isRest = /\d/.test(rest) || /[a-z][A-Z]/.test(rest)
    if (!isRest || /^\s*[=:(]/.test(text.slice(next + rest.length, next + rest.length + 4))) return end
    end = next + rest.length
  }
}
