/**
 * Gives a tool result to its call in a run, and says what became of it when it has none: an orphan stays in the run as
 * context, a second answer is left out, both are reported.
 */
import type { SourceRef } from '../../src/trajectory/trajectory.ts'
import type { Damage, ReadContext } from './importer.ts'
import type { RunBuilder, ToolResult } from './run-builder.ts'

export interface ResultPlace {
  readonly source: SourceRef
  readonly context: ReadContext
  /** Interaction that the log links the result to; without it the newest batch. */
  readonly of?: number | undefined
}

export function pairResult(run: RunBuilder, result: ToolResult, { source, context, of }: ResultPlace): void {
  const linked = of === undefined ? 'orphan' : run.result(result, of)
  const pairing = linked === 'orphan' ? run.result(result) : linked
  if (pairing === 'paired') return
  const named = result.callId ?? result.name ?? '(no id)'
  context.damage({ ...placeOf(source), reason: `${pairing} result of call ${named}` })
  if (pairing === 'orphan') run.turn('context', result.content, source)
}

/** Line or index of a source reference, as a damage entry names its place. */
export function placeOf({ line, index }: SourceRef): Pick<Damage, 'line' | 'index'> {
  if (line !== undefined) return { line }
  return index === undefined ? {} : { index }
}
