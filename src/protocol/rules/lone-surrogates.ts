/**
 * A16 for every format: half of a surrogate pair makes the JSON unreadable for the provider. Pure.
 */
import type { HistoryFormat, JsonValue } from '../history.ts'
import { jsonPointer } from '../json-pointer.ts'
import { hasLoneSurrogate } from '../well-formed.ts'
import { advisoryIf, type Finding, type Rule, type RuleInput } from './rule.ts'

/** @param userMessage of the format, for the examples; default: role and content. */
export function loneSurrogateRule(
  format: HistoryFormat,
  userMessage: (text: string) => JsonValue = (text) => ({ role: 'user', content: text }),
): Rule {
  return {
    id: 'A16',
    format,
    sentence: 'No string holds half of a surrogate pair (text cut inside an emoji).',
    check: (input) => checkLoneSurrogates(input, format !== 'anthropic-messages'),
    examples: {
      violating: JSON.stringify([userMessage('cut \ud83d')]),
      valid: JSON.stringify([userMessage('whole \ud83d\ude00')]),
    },
  }
}

/** Known from Anthropic; for the others an assumption, hence advisory there. */
function checkLoneSurrogates({ history }: RuleInput, advisory: boolean): readonly Finding[] {
  const findings: Finding[] = []
  history.messages.forEach((message, number) => {
    // Only text with a surrogate in it, escaped or not, needs the walk over its values.
    if (!/\\u[dD][89a-fA-F]|[\ud800-\udfff]/.test(message.raw)) return
    for (const path of loneStrings(message.value, [history.listField, number])) {
      const finding = { pointer: jsonPointer(path), message: 'half of a surrogate pair: replace it by U+FFFD' }
      findings.push(advisoryIf(advisory, finding))
    }
  })
  return findings
}

function* loneStrings(value: JsonValue, path: readonly (string | number)[]): Generator<readonly (string | number)[]> {
  if (typeof value === 'string') {
    if (hasLoneSurrogate(value)) yield path
  } else if (Array.isArray(value)) {
    for (const [number, element] of value.entries()) yield* loneStrings(element, [...path, number])
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) yield* loneStrings(member, [...path, key])
  }
}
