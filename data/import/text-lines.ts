/**
 * Lines of a log that is no JSON, streamed: what formats with headers, banners or logger prefixes are read from. The same
 * care as for JSONL (formats.md rule 6): BOM, CR and NUL padding are dropped, bad UTF-8 is replaced and reported.
 */
import { isUtf8 } from 'node:buffer'
import { MAX_LINE_BYTES, readRawLines } from './json-lines.ts'

export interface TextLine {
  /** 1-based. */
  readonly line: number
  readonly text: string
  /** What was repaired or left out; the text holds the rest. */
  readonly problem: string | null
}

/** @param path a text file; throws file-unreadable */
export async function* readTextLines(path: string): AsyncGenerator<TextLine> {
  for await (const { line, bytes } of readRawLines(path)) {
    if (bytes === null) {
      yield { line, text: '', problem: `line is longer than the limit of ${MAX_LINE_BYTES} bytes` }
      continue
    }
    let problem = isUtf8(bytes) ? null : 'bytes that are no UTF-8 were read as U+FFFD; the line is kept'
    let text = bytes.toString('utf8')
    if (line === 1 && text.startsWith('\ufeff')) text = text.slice(1)
    if (text.includes('\0')) {
      const padded = text.length
      text = text.replaceAll('\0', '')
      problem = `${padded - text.length} NUL bytes dropped`
    }
    yield { line, text: text.endsWith('\r') ? text.slice(0, -1) : text, problem }
  }
}

/** Lines of a sample's head, whatever their line breaks. */
export function headLines(head: string): readonly string[] {
  return head.split(/\r?\n/)
}
