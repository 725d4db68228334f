/**
 * Lines of a log that is no JSON, streamed: what formats with headers, banners or logger prefixes are read from. The same
 * care as for JSONL (formats.md rule 6): BOM, CR and NUL padding are dropped, bad UTF-8 is replaced and reported.
 */
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { AppError } from '../../src/errors.ts'
import { MAX_LINE_BYTES } from './json-lines.ts'

export interface TextLine {
  /** 1-based. */
  readonly line: number
  readonly text: string
  /** What was repaired or left out; the text holds the rest. */
  readonly problem: string | null
}

/** @param path a text file; throws file-unreadable */
export async function* readTextLines(path: string): AsyncGenerator<TextLine> {
  for await (const lines of readLineBatches(path)) yield* lines
}

/** The same, about a megabyte of lines at a time: one asynchronous step per line costs more than reading it. */
export async function* readLineBatches(path: string): AsyncGenerator<readonly TextLine[]> {
  let line = 1
  for await (const block of readBlocks(path)) {
    const lines = block === null ? [tooLong(line)] : linesOf(block, line)
    line += lines.length
    yield lines
  }
}

/** Lines of a sample's head, whatever their line breaks. */
export function headLines(head: string): readonly string[] {
  return head.split(/\r?\n/)
}

function tooLong(line: number): TextLine {
  return { line, text: '', problem: `line is longer than the limit of ${MAX_LINE_BYTES} bytes` }
}

/** Whole blocks are decoded at once: per line it costs several times as much. */
function linesOf(block: Buffer, from: number): readonly TextLine[] {
  const isValid = isUtf8(block)
  return block
    .toString('utf8')
    .split('\n')
    .map((raw, at) => textLine(raw, from + at, isValid))
}

function textLine(raw: string, line: number, isValid: boolean): TextLine {
  let text = line === 1 && raw.startsWith('\ufeff') ? raw.slice(1) : raw
  if (text.endsWith('\r')) text = text.slice(0, -1)
  let problem: string | null = null
  // A file may hold the replacement character itself: in a valid block it is no problem.
  if (!isValid && text.includes('\ufffd')) problem = 'bytes that are no UTF-8 were read as U+FFFD; the line is kept'
  if (text.includes('\0')) {
    const padded = text.length
    text = text.replaceAll('\0', '')
    problem = `${padded - text.length} NUL bytes dropped`
  }
  return { line, text, problem }
}

/** Whole lines in blocks, without the line break at a block's end; null stands for one line above the limit. */
async function* readBlocks(path: string): AsyncGenerator<Buffer | null> {
  let pending: Buffer[] = []
  let pendingBytes = 0
  const hold = (rest: Buffer): void => {
    pendingBytes += rest.length
    if (pendingBytes <= MAX_LINE_BYTES) pending.push(rest)
    else pending = []
  }
  const release = (last: Buffer): Buffer | null => {
    const block = pendingBytes > MAX_LINE_BYTES ? null : Buffer.concat([...pending, last])
    pending = []
    pendingBytes = 0
    return block
  }
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      const first = chunk.indexOf(10)
      const last = chunk.lastIndexOf(10)
      if (first === -1) {
        hold(chunk)
        continue
      }
      // What was held is the beginning of the chunk's first line: the rest is a block of its own if that line is too long.
      const isTooLong = pendingBytes + first > MAX_LINE_BYTES
      if (isTooLong) {
        pendingBytes = MAX_LINE_BYTES + 1
        yield release(chunk.subarray(0, first))
        if (last > first) yield chunk.subarray(first + 1, last)
      } else yield release(chunk.subarray(0, last))
      if (last + 1 < chunk.length) hold(chunk.subarray(last + 1))
    }
  } catch (cause) {
    throw new AppError('file-unreadable', `cannot read ${path}: ${String(cause)}; check that it is a readable file`, {
      cause,
    })
  }
  if (pendingBytes > 0) yield release(Buffer.alloc(0))
}
