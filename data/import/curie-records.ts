/** Lines of Curie's logger as records: a line without the logger's prefix goes on with the record before it. Streams. */
import { stripAnsi } from './strip-ansi.ts'
import type { TextLine } from './text-lines.ts'

export interface LoggerRecord {
  /** 1-based line where it starts. */
  readonly line: number
  /** Source file that logged it, e.g. `model.py`. */
  readonly file: string
  /** Without colours; further lines joined by LF. */
  readonly message: string
}

const PREFIX = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)? - logger - (\S+) - [A-Z]+ - (.*)$/

export async function* readLoggerRecords(
  batches: AsyncIterable<readonly TextLine[]>,
  report: (line: number, reason: string) => void,
): AsyncGenerator<LoggerRecord> {
  let open: { line: number; file: string; message: string[] } | null = null
  for await (const lines of batches)
    for (const { line, text, problem } of lines) {
      if (problem !== null) report(line, problem)
      const plain = stripAnsi(text)
      const [, file, message] = PREFIX.exec(plain) ?? []
      if (file !== undefined) {
        if (open !== null) yield whole(open)
        open = { line, file, message: [message ?? ''] }
      } else if (open !== null) open.message.push(plain)
      else if (plain.trim() !== '') report(line, 'line before the first logger line is left out')
    }
  if (open !== null) yield whole(open)
}

function whole(open: {
  readonly line: number
  readonly file: string
  readonly message: readonly string[]
}): LoggerRecord {
  return { line: open.line, file: open.file, message: open.message.join('\n').trimEnd() }
}
