/**
 * Body of one SpecStory block: thoughts, words and tool uses in their order. A tool use holds call and result in one
 * block, formatted for reading: the call's arguments are what stands before the result's fence. Pure.
 */
import type { StoryBlock } from './specstory-blocks.ts'
import { TOOL_CLOSE, TOOL_OPEN } from './specstory-blocks.ts'

export type StoryPart =
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'tool'
      readonly name: string
      /** As the exporter formatted them, e.g. "path `./src` pattern `total`". */
      readonly arguments: string
      /** null: the block shows none. */
      readonly result: string | null
      readonly isError: boolean
    }

const THINK_OPEN = /^<think><details><summary>[^<]*<\/summary>$/
const THINK_CLOSE = '</details></think>'
const MESSAGE_ID = /^<!-- message-id: [^>]* -->$/
const FENCE = /^(`{3,})([^`]*)$/
/** How Claude Code words a failed or refused call; the exporter drops the flag. */
const ERROR_RESULT =
  /^(?:Exit code [1-9]|<tool_use_error>|The user doesn't want to (?:proceed|take this action)|\[Request interrupted by user)/

export function storyParts(block: StoryBlock): readonly StoryPart[] {
  const parts: StoryPart[] = []
  let words: string[] = []
  const flush = (): void => {
    const text = words.join('\n').trim()
    if (text !== '') parts.push({ kind: 'text', text })
    words = []
  }
  const { body } = block
  for (let at = 0; at < body.length; at += 1) {
    const line = body[at] ?? ''
    const isThought = THINK_OPEN.test(line)
    if (isThought || TOOL_OPEN.test(line)) {
      flush()
      const end = isThought ? body.indexOf(THINK_CLOSE, at) : toolEnd(body, at)
      const inner = body.slice(at + 1, end === -1 ? body.length : end)
      parts.push(isThought ? { kind: 'thought', text: inner.join('\n').trim() } : toolPart(line, inner))
      at = end === -1 ? body.length : end
    } else if (!(at === 0 && MESSAGE_ID.test(line))) words.push(line)
  }
  flush()
  return parts
}

/** The closing tag that belongs to the opening one; the first one where the tags inside do not match. */
function toolEnd(body: readonly string[], start: number): number {
  let depth = 0
  for (let at = start; at < body.length; at += 1) {
    const line = body[at] ?? ''
    if (TOOL_OPEN.test(line)) depth += 1
    else if (line === TOOL_CLOSE) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return body.indexOf(TOOL_CLOSE, start)
}

function toolPart(tag: string, lines: readonly string[]): StoryPart {
  const { summary, rest } = splitSummary(lines)
  const name = /data-tool-name="([^"]*)"/.exec(tag)?.[1] ?? ''
  const at = resultStart(rest)
  const call = at === null ? rest : rest.slice(0, at.start)
  const result = at === null ? null : unfenced(rest.slice(at.content))
  const words = summary.replace(`Tool use: **${name}**`, '').trim()
  return {
    kind: 'tool',
    name,
    arguments: [words, call.join('\n').trim()].filter((text) => text !== '').join('\n'),
    result,
    isError: result !== null && (at?.isError === true || ERROR_RESULT.test(result)),
  }
}

function splitSummary(lines: readonly string[]): { readonly summary: string; readonly rest: readonly string[] } {
  const end = lines[0]?.startsWith('<summary>') === true ? lines.findIndex((line) => line.endsWith('</summary>')) : -1
  if (end === -1) return { summary: '', rest: lines }
  const summary = lines
    .slice(0, end + 1)
    .join('\n')
    .slice('<summary>'.length, -'</summary>'.length)
  return { summary, rest: lines.slice(end + 1) }
}

interface ResultAt {
  /** Where the call's arguments end. */
  readonly start: number
  readonly content: number
  readonly isError: boolean
}

/**
 * The result is the last thing in the block: a fence of language `text` behind a blank line, a `**Result:**` or
 * `**Error:**` section, or a person's `**Answer:**`. Arguments may themselves be a fence (file content, a script).
 */
function resultStart(lines: readonly string[]): ResultAt | null {
  let fence: string | null = null
  for (const [at, line] of lines.entries()) {
    const section = fence === null ? /^\*\*(Result|Error|Answer):\*\*\s*(.*)$/.exec(line) : null
    if (section !== null)
      return { start: at, content: at + (section[2] === '' ? 1 : 0), isError: section[1] === 'Error' }
    const [, ticks, language] = FENCE.exec(line) ?? []
    if (ticks === undefined) continue
    const isResult = language === 'text' && lines[at - 1]?.trim() === '' && (fence === null || lines[at - 2] === fence)
    if (isResult) return { start: at, content: at, isError: false }
    if (fence === null) fence = ticks
    else if (line === fence) fence = null
  }
  return null
}

function unfenced(lines: readonly string[]): string {
  const text = lines
    .join('\n')
    .trim()
    .replace(/^\*\*Answer:\*\*\s*/, '')
  const [, ticks] = FENCE.exec(text.slice(0, Math.max(text.indexOf('\n'), 0))) ?? []
  if (ticks === undefined) return text
  const inner = text.slice(text.indexOf('\n') + 1)
  return inner.endsWith(`\n${ticks}`) ? inner.slice(0, -ticks.length - 1) : inner === ticks ? '' : inner
}
