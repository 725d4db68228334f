/**
 * A command line that cannot be understood, told like every other error: one line on stderr with its code, and with
 * --json one document on stdout.
 */
import type { ErrorCode } from '../errors.ts'

const CODE: ErrorCode = 'option-invalid'

/** @param text as commander words it: `error: ...`, perhaps with a suggestion on a second line */
export function reportUsageError(
  text: string,
  to: { readonly json: boolean; readonly writeOut: (text: string) => void; readonly writeErr: (text: string) => void },
): void {
  const what = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ')
  const message = `${what} (run with --help for usage)`
  if (to.json) to.writeOut(`${JSON.stringify({ error: { code: CODE, message, details: {} } })}\n`)
  to.writeErr(`keepready: ${message} [${CODE}]\n`)
}
