/**
 * A Claude Code session file as records with their links. Knows nothing of trajectories, and nothing of order: that is
 * claude-code-chain.ts. Sources: formats.md "Claude Code JSONL", trajectories/long/README.md.
 */
import type { ReadContext } from './importer.ts'
import type { JsonLine } from './json-lines.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'

/** One line with a place in the conversation: a message, or a record that only carries a link. */
export interface SessionLine {
  readonly line: number
  readonly uuid: string
  readonly parentUuid: string | null
  readonly sessionId: string
  readonly agentId: string | null
  readonly isSidechain: boolean
  /** ISO time or "". */
  readonly timestamp: string
  /** `assistant` and `user` are messages, `link` is walked through. */
  readonly kind: 'assistant' | 'user' | 'link'
  /** message.id of an assistant line (its uuid where it has none): lines that share it are one model call. */
  readonly messageId: string
  /** Fields that the run needs, as logged: message {content, model, stop_reason} and the flags of the line. */
  readonly value: JsonObject
}

/** Record types without a place in the conversation, or with one that carries no message. */
const QUIET_TYPES = new Set([
  'summary',
  'system',
  'progress',
  'attachment',
  'file-history-snapshot',
  'queue-operation',
  'last-prompt',
  'custom-title',
  'ai-title',
  'agent-name',
  'mode',
  'permission-mode',
  'pr-link',
  'tag',
])

/** Where records that are left out are reported. */
type Report = Pick<ReadContext, 'damage' | 'ignore'>

export async function readSession(lines: AsyncIterable<JsonLine>, report: Report): Promise<readonly SessionLine[]> {
  const reader = createReader(report)
  for await (const line of lines) reader.add(line)
  return reader.lines
}

/** The same for lines that are in memory; what is damaged is left out. */
export function readSessionSync(lines: Iterable<JsonLine>): readonly SessionLine[] {
  const reader = createReader({ damage: () => undefined, ignore: () => undefined })
  for (const line of lines) reader.add(line)
  return reader.lines
}

/**
 * Keeps of each line what the run needs; tool results in their structured copy, usage and progress are most of a file.
 * A uuid that stands twice: the same message again is a repeated write, another one is kept under a name of its own, and
 * later links mean the nearest line above them.
 */
function createReader(report: Report): { readonly lines: SessionLine[]; add(line: JsonLine): void } {
  const lines: SessionLine[] = []
  /** uuid as written -> the newest line with it. Also makes one string of the many that spell one id. */
  const newest = new Map<string, SessionLine>()
  const sessionIds = new Map<string, string>()
  const one = (id: string): string => {
    const known = sessionIds.get(id)
    if (known === undefined) sessionIds.set(id, id)
    return known ?? id
  }
  return {
    lines,
    add(json) {
      const line = readSessionLine(json, report)
      if (line === null) return
      const earlier = newest.get(line.uuid)
      if (earlier !== undefined && isSameMessage(earlier, line)) {
        report.ignore('repeated record')
        return
      }
      const clashes = earlier !== undefined && earlier.kind !== 'link' && line.kind !== 'link'
      if (clashes)
        report.damage({
          line: line.line,
          reason: `uuid ${line.uuid} stands on line ${earlier.line} too: both are kept`,
        })
      const parent = line.parentUuid === null ? undefined : newest.get(line.parentUuid)
      const kept: SessionLine = {
        ...line,
        uuid: clashes ? `${line.uuid}#${line.line}` : line.uuid,
        parentUuid: parent?.uuid ?? line.parentUuid,
        sessionId: one(line.sessionId),
      }
      lines.push(kept)
      if (earlier === undefined || line.kind !== 'link') newest.set(line.uuid, kept)
    },
  }
}

function isSameMessage(a: SessionLine, b: SessionLine): boolean {
  return a.kind === b.kind && JSON.stringify(a.value) === JSON.stringify(b.value)
}

/** Null for a record without a place in the conversation. */
function readSessionLine(line: JsonLine, report: Report): SessionLine | null {
  if (line.kind === 'problem') {
    report.damage({ line: line.line, reason: line.reason })
    return null
  }
  const value = line.value
  if (!isObject(value) || typeof value.type !== 'string') {
    report.damage({ line: line.line, reason: 'record is no object with a type' })
    return null
  }
  const isMessage = value.type === 'user' || value.type === 'assistant'
  const problem = isMessage ? messageProblem(value) : null
  if (problem !== null) report.damage({ line: line.line, reason: problem })
  else if (!isMessage) report.ignore(QUIET_TYPES.has(value.type) ? value.type : `unknown ${value.type}`)
  const queued = queuedPrompt(value)
  const uuid = idOf(value.uuid) ?? (isMessage ? `line-${line.line}` : null)
  if (uuid === null) return null
  const kind = queued !== null ? 'user' : isMessage && problem === null ? (value.type as 'user' | 'assistant') : 'link'
  return {
    line: line.line,
    uuid,
    parentUuid: idOf(value.parentUuid) ?? idOf(value.logicalParentUuid),
    sessionId: stringOf(value.sessionId),
    agentId: idOf(value.agentId),
    isSidechain: value.isSidechain === true,
    timestamp: stringOf(value.timestamp),
    kind,
    messageId: idOf(objectOf(value.message).id) ?? uuid,
    value: kind === 'link' ? linkValue(value) : messageValue(queued ?? value),
  }
}

const PLAIN_LINK: JsonObject = {}
const COMPACT_BOUNDARY: JsonObject = { subtype: 'compact_boundary' }

function linkValue(value: JsonObject): JsonObject {
  return value.subtype === 'compact_boundary' ? COMPACT_BOUNDARY : PLAIN_LINK
}

const MESSAGE_FLAGS = ['isMeta', 'isCompactSummary', 'isApiErrorMessage', 'sourceToolAssistantUUID'] as const

function messageValue(value: JsonObject): JsonObject {
  const { content, model, stop_reason } = objectOf(value.message)
  const kept: Record<string, unknown> = { message: { content, model, stop_reason } }
  for (const flag of MESSAGE_FLAGS) if (value[flag] !== undefined) kept[flag] = value[flag]
  return kept
}

function messageProblem(value: JsonObject): string | null {
  if (!isObject(value.message)) return `${String(value.type)} record has no message object`
  const { content } = value.message
  return typeof content === 'string' || Array.isArray(content)
    ? null
    : `${String(value.type)} message has no content (string or list of blocks)`
}

/** What a person typed while the agent was busy reaches the model as an attachment: it is a user message. */
function queuedPrompt(value: JsonObject): JsonObject | null {
  const attachment = objectOf(value.attachment)
  if (value.type !== 'attachment' || attachment.type !== 'queued_command') return null
  const { prompt } = attachment
  if (typeof prompt !== 'string' && !Array.isArray(prompt)) return null
  return { ...value, message: { role: 'user', content: prompt } }
}

export function contentBlocks(line: SessionLine): readonly JsonObject[] {
  return arrayOf(objectOf(line.value.message).content).filter(isObject)
}

export function resultBlocks(line: SessionLine): readonly JsonObject[] {
  return line.kind === 'user' ? contentBlocks(line).filter((block) => block.type === 'tool_result') : []
}

export function callIds(line: SessionLine): readonly string[] {
  return contentBlocks(line)
    .filter((block) => block.type === 'tool_use')
    .map((block) => stringOf(block.id))
}

/** Lines that the program wrote in place of a failed model call: API errors, cancelled requests. */
export function isSynthetic(line: SessionLine): boolean {
  return objectOf(line.value.message).model === '<synthetic>' || line.value.isApiErrorMessage === true
}
