/**
 * Masks secrets inside a JSON text: each string is decoded, masked and encoded again, everything else stays byte for byte. Pure.
 */
import type { Redactor } from './redact-text.ts'

const STRING = /"(?:[^"\\]|\\.)*"/g

/** The result is valid JSON where the input is; a text that is no JSON is masked as plain text. */
export function redactJson(text: string, redactor: Redactor): string {
  if (!isJson(text)) return redactor.redact(text)
  const strings = text.replace(STRING, (token) => {
    const value: unknown = JSON.parse(token)
    if (typeof value !== 'string') return token
    const masked = redactor.redact(value)
    return masked === value ? token : JSON.stringify(masked)
  })
  // A key and its value are two strings: their assignment is only seen in the text around them.
  const whole = redactor.redact(strings)
  return isJson(whole) ? whole : strings
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (cause) {
    // Arguments of a call may be any text.
    if (cause instanceof SyntaxError) return false
    throw cause
  }
}
