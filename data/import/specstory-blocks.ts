/**
 * SpecStory markdown as blocks: a header line `_**User (time)**_` or `_**Agent - sidechain (model time)**_`, and the lines
 * up to the next one. Knows nothing of trajectories. A header, a separator or a tag inside a `<tool-use>` block belongs to
 * what the tool printed: logs of logs are common. Streams: it holds one block.
 */
import type { TextLine } from './text-lines.ts'

export interface StoryBlock {
  /** 1-based line of the header. */
  readonly line: number
  readonly role: 'user' | 'agent'
  readonly isSidechain: boolean
  /** "" where the header names none: then a sidechain block is the prompt of a sub-agent. */
  readonly model: string
  /** Seconds since 1970, null without a time. For a tool block: when its result came. */
  readonly timeSeconds: number | null
  /** Lines below the header, without the separator before the next one. */
  readonly body: readonly string[]
}

export interface BlockReader {
  /** The block that the line completes, if any. */
  line(text: string, line: number): StoryBlock | null
  /** The rest, at the end of the file. */
  end(): readonly StoryBlock[]
  /** Lines of tool blocks that were never closed. */
  readonly unclosed: readonly number[]
}

export const STORY_HEADER = /^_\*\*(User|Agent)( - sidechain)?(?: \((.*)\))?\*\*_$/
const STORY_TIME = /(?:^|\s)(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?$/
export const TOOL_OPEN = /^<tool-use [^>]*>/
export const TOOL_CLOSE = '</details></tool-use>'
const SEPARATOR = '---'

interface Open {
  readonly header: Omit<StoryBlock, 'body'>
  readonly body: string[]
}

export async function* readStoryBlocks(
  batches: AsyncIterable<readonly TextLine[]>,
  report: (line: number, reason: string) => void,
): AsyncGenerator<StoryBlock> {
  const reader = createBlockReader()
  for await (const lines of batches)
    for (const { line, text, problem } of lines) {
      if (problem !== null) report(line, problem)
      const block = reader.line(text, line)
      if (block !== null) yield block
    }
  yield* reader.end()
  for (const line of reader.unclosed) report(line, 'tool-use block is not closed: it ends at the next header')
}

export function createBlockReader(): BlockReader {
  let open: Open | null = null
  /** Open `<tool-use>` tags, and where in the body the outermost stands. */
  let depth = 0
  let toolAt = -1
  /** After a tag count that came out wrong, the first closing tag ends a tool block. */
  let countsTags = true
  let wasBlank = true
  const unclosed: number[] = []

  const close = (next: Omit<StoryBlock, 'body'> | null): StoryBlock | null => {
    if (open === null) return null
    const body = trimBlank(open.body)
    if (next !== null && (next.role === 'user' || next.role !== open.header.role) && body.at(-1) === SEPARATOR)
      body.pop()
    return { ...open.header, body: trimBlank(body) }
  }
  const take = (text: string, line: number): StoryBlock | null => {
    const header = depth === 0 && wasBlank && text.startsWith('_**') ? headerOf(text, line) : null
    wasBlank = text.trim() === ''
    if (header !== null) {
      const done = close(header)
      open = { header, body: [] }
      return done
    }
    if (open === null) return null
    if (text.startsWith('<tool-use ') && TOOL_OPEN.test(text) && (depth === 0 || countsTags)) {
      if (depth === 0) toolAt = open.body.length
      depth += 1
    } else if (depth > 0 && text === TOOL_CLOSE) depth -= 1
    open.body.push(text)
    return null
  }
  /** Ends the open tool block at its first closing tag, else before the next header, and reads on behind it. */
  const recover = (block: Open): StoryBlock[] => {
    countsTags = false
    depth = 0
    const firstLine = block.header.line + 1
    const tail = block.body.slice(toolAt + 1)
    const closing = tail.indexOf(TOOL_CLOSE)
    const header = tail.findIndex((text, at) => tail[at - 1]?.trim() === '' && STORY_HEADER.test(text))
    const isClosed = closing !== -1 && (header === -1 || closing < header)
    if (!isClosed) unclosed.push(firstLine + toolAt)
    if (!isClosed && header === -1) return []
    const rest = toolAt + 1 + (isClosed ? closing + 1 : header)
    wasBlank = true
    return block.body.splice(rest).flatMap((text, at) => take(text, firstLine + rest + at) ?? [])
  }
  return {
    line: take,
    end() {
      const blocks: StoryBlock[] = []
      while (open !== null && depth > 0) blocks.push(...recover(open))
      const last = close(null)
      return last === null ? blocks : [...blocks, last]
    },
    unclosed,
  }
}

function headerOf(text: string, line: number): Omit<StoryBlock, 'body'> | null {
  const [, role, sidechain, inner = ''] = STORY_HEADER.exec(text) ?? []
  if (role === undefined) return null
  const time = STORY_TIME.exec(inner)
  return {
    line,
    role: role === 'User' ? 'user' : 'agent',
    isSidechain: sidechain !== undefined,
    model: (time === null ? inner : inner.slice(0, time.index)).trim(),
    timeSeconds: time === null ? null : secondsOf(time[1] ?? '', time[2] ?? '', time[3] ?? 'Z'),
  }
}

function secondsOf(day: string, clock: string, zone: string): number | null {
  const milliseconds = Date.parse(`${day}T${clock}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`)
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000
}

function trimBlank(lines: readonly string[]): string[] {
  const start = lines.findIndex((line) => line.trim() !== '')
  return start === -1 ? [] : lines.slice(start, lines.findLastIndex((line) => line.trim() !== '') + 1)
}
