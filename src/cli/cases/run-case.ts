/**
 * Runs one case through the public functions and checks every assert key that it knows.
 */
import { AppError } from '../../errors.ts'
import type { JsonValue } from '../../protocol/history.ts'
import type { JsonObject } from '../../protocol/segment.ts'
import type { CaseFile } from './case-file.schema.ts'
import type { CaseResult, Check, Verdict } from './case-result.ts'
import { CONTENT_CHECKS, interactionCheck } from './checks-content.ts'
import { PROTOCOL_CHECKS } from './checks-protocol.ts'
import { REASONING_CHECKS } from './checks-reasoning.ts'
import { runHistoryCase } from './history-case.ts'
import { runLogCase } from './log-case.ts'
import { historyFormat } from './render-for.ts'
import { runUsageCase } from './usage-case.ts'

export interface CaseReport {
  readonly id: string
  readonly operation: string
  readonly checks: Readonly<Record<string, Verdict>>
  /** What is wrong, by assert key. */
  readonly detail: Readonly<Record<string, string>>
  readonly output: JsonValue
}

const CHECKS: Readonly<Record<string, Check>> = { ...PROTOCOL_CHECKS, ...REASONING_CHECKS, ...CONTENT_CHECKS }

export async function runCase(given: CaseFile): Promise<CaseReport> {
  const result = await perform(given)
  const checks: Record<string, Verdict> = {}
  const detail: Record<string, string> = {}
  if (result.thrown !== null) detail.thrown = result.thrown
  for (const [key, expected] of Object.entries(given.assert)) {
    const check = Object.hasOwn(CHECKS, key) ? CHECKS[key] : interactionCheck(key)
    if (check === undefined || check === null) {
      checks[key] = 'unchecked'
      continue
    }
    const problem = problemOf(check, result, expected)
    checks[key] = problem === null ? 'pass' : 'fail'
    if (problem !== null) detail[key] = problem
  }
  return { id: given.id, operation: given.operation, checks, detail, output: result.output }
}

/** A case passes when something was checked, nothing failed, and the operation did not end in an error. */
export function hasPassed(report: CaseReport): boolean {
  const verdicts = Object.values(report.checks)
  return verdicts.includes('pass') && !verdicts.includes('fail') && !('thrown' in report.detail)
}

async function perform(given: CaseFile): Promise<CaseResult> {
  try {
    if (given.operation === 'trigger') return runUsageCase(given)
    const format = given.input_lines === undefined ? historyFormat(given.format) : null
    return format === null ? await runLogCase(given) : runHistoryCase(given, format)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    const output: JsonObject = { error: { code: cause.code, message: cause.message } }
    return { given, output, input: null, trajectory: null, rendered: null, thrown: cause.message }
  }
}

/** A check that cannot be made on what came out has failed. */
function problemOf(check: Check, result: CaseResult, expected: JsonValue): string | null {
  try {
    return check(result, expected)
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}
