/**
 * A corrections file (JSONL): every line is read, so that one run of the command tells all that is wrong with it.
 */
import { existsSync } from 'node:fs'
import { AppError } from '../../src/errors.ts'
import type { CorrectionProblem, NumberedCorrection } from '../annotate/apply-corrections.ts'
import { readJsonLines } from '../import/json-lines.ts'
import { parseCorrection } from './correction.schema.ts'

/** @throws file-not-found, file-unreadable */
export async function readCorrections(
  path: string,
): Promise<{ readonly corrections: readonly NumberedCorrection[]; readonly problems: readonly CorrectionProblem[] }> {
  if (!existsSync(path))
    throw new AppError(
      'file-not-found',
      `${path} does not exist: write one JSON object a line, {"run", "interaction", "boundary", "reason", "reviewer"}`,
    )
  const corrections: NumberedCorrection[] = []
  const problems: CorrectionProblem[] = []
  for await (const line of readJsonLines(path)) {
    if (line.kind === 'problem') {
      problems.push({ line: line.line, reason: line.reason })
      continue
    }
    const parsed = parseCorrection(line.value)
    if (parsed.ok) corrections.push({ line: line.line, correction: parsed.correction })
    else problems.push(...parsed.problems.map((reason) => ({ line: line.line, reason })))
  }
  return { corrections, problems }
}
