/**
 * Logs that hold a provider's own messages: a bare list or a request body as one JSON file, JSONL with one body or list per
 * line, or JSONL with one message per line. Each format says what its messages look like.
 */
import { AppError } from '../../src/errors.ts'
import { FORMATS } from '../../src/protocol/formats.ts'
import type { HistoryFormat } from '../../src/protocol/history.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup, taskGroup } from '../groups.ts'
import { isAiSdkPart } from './ai-sdk-part.ts'
import { fileStem } from './file-stem.ts'
import { type HistoryRun, historyTrajectory } from './history-trajectory.ts'
import type { LogFile, LogSample, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, stringOf } from './json-value.ts'
import { isLiveMcpTask } from './livemcpbench.ts'
import { hasResponsesParts, isResponsesItem } from './responses-item.ts'
import type { JudgeMessage } from './set-aside.ts'

/** How messages of a provider stand in a log. */
export interface ChatLogKind {
  readonly format: HistoryFormat
  readonly isMessage: (value: unknown) => boolean
  /** A body as the text that is parsed, where that is another one than the log's own. */
  readonly bodyText?: (raw: string, body: JsonObject) => string
  /** What stands among the messages and is no part of the conversation. */
  readonly judge?: JudgeMessage
}

/** OpenAI chat and Anthropic Messages: what tells them apart is looked for inside the messages. */
export function messageLog(format: 'openai-chat' | 'anthropic-messages'): ChatLogKind {
  return {
    format,
    isMessage: (value) =>
      isObject(value) && typeof value.role === 'string' && ('content' in value || 'tool_calls' in value),
  }
}

/** All messages in the sample, and the request bodies around them. */
export interface ChatShape {
  readonly messages: readonly JsonObject[]
  /** What stands among them and is none. */
  readonly strangers: readonly unknown[]
  readonly bodies: readonly JsonObject[]
}

/** Null for what holds no message list: also a lone message, which is an answer rather than a history. */
export function chatShape(sample: LogSample, kind: ChatLogKind): ChatShape | null {
  const values = sample.document === undefined ? sample.records : [sample.document]
  const bodies: JsonObject[] = []
  const messages: JsonObject[] = []
  const strangers: unknown[] = []
  const isMessage = (value: unknown): value is JsonObject => isObject(value) && kind.isMessage(value)
  let others = 0
  for (const value of values) {
    const list = isObject(value) ? listOf(value, kind) : value
    if (isObject(value) && list !== null) bodies.push(value)
    if (Array.isArray(list) && list.some(isMessage))
      for (const element of list) {
        if (isMessage(element)) messages.push(element)
        else strangers.push(element)
      }
    else if (isMessage(value) && sample.document === undefined) messages.push(value)
    else others += 1
  }
  // Damaged lines are no records; whole records of another kind say that the file is another format.
  return messages.length === 0 || others * 5 > values.length ? null : { messages, strangers, bodies }
}

/** All message lists of a request or response body, joined; null for what is no body. */
function listOf(value: JsonObject, { format, isMessage }: ChatLogKind): readonly unknown[] | null {
  const lists = FORMATS[format].listFields.map((field) => value[field]).filter((list) => Array.isArray(list))
  return lists.some((list) => list.some(isMessage)) ? lists.flat() : null
}

/**
 * Logs that look like chat messages but are another format: OpenAI Responses items, AI SDK messages, and agents that use the roles for
 * something else, so that importing them as chat would turn every observation into a person's words.
 */
export function isOtherAgentsLog(shape: ChatShape): boolean {
  if (shape.bodies.some((body) => stringOf(body.trajectory_format).startsWith('mini-swe-agent'))) return true
  if (shape.bodies.some(isLiveMcpTask)) return true
  if (shape.strangers.some(isResponsesItem) || shape.messages.some(hasResponsesParts)) return true
  if (shape.messages.some(({ content, parts }) => Array.isArray(parts) || arrayOf(content).some(isAiSdkPart)))
    return true
  // A model call of OpenHands: its response is the newest interaction, and its messages may hold results as user text.
  if (shape.bodies.some((body) => 'response' in body && 'latency_sec' in body)) return true
  return shape.messages.some(
    ({ role, content }) =>
      (role === 'user' && /^\s*<returncode>/.test(stringOf(content))) ||
      (role === 'assistant' && stringOf(content).includes('```mswea_bash_command\n')),
  )
}

/** Throws log-malformed when the file holds no message list at all. */
export function readChatLog(file: LogFile, kind: ChatLogKind, context: ReadContext): AsyncIterable<Trajectory> {
  return file.sample.document === undefined ? readLines(file, kind, context) : readDocument(file, kind, context)
}

async function* readDocument(file: LogFile, kind: ChatLogKind, context: ReadContext): AsyncGenerator<Trajectory> {
  const { document } = file.sample
  const { format } = kind
  const raw = await file.text()
  const { trajectory, damage, dropped } = translated(file, () =>
    historyTrajectory({
      judge: kind.judge,
      text: kind.isMessage(document) ? `[${raw}]` : textOf(kind, raw, document),
      format,
      ...identity(file, format, { body: document, place: '' }),
      source: { file: file.name },
    }),
  )
  for (const entry of damage) context.damage(entry)
  ignoreDropped(context, dropped)
  yield trajectory
}

function textOf({ bodyText }: ChatLogKind, raw: string, value: unknown): string {
  return bodyText !== undefined && isObject(value) ? bodyText(raw, value) : raw
}

async function* readLines(file: LogFile, kind: ChatLogKind, context: ReadContext): AsyncGenerator<Trajectory> {
  const messages: { readonly raw: string; readonly line: number }[] = []
  const { format } = kind
  for await (const line of file.lines()) {
    if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
    else if (kind.isMessage(line.value)) messages.push({ raw: line.raw, line: line.line })
    else if (Array.isArray(line.value) || (isObject(line.value) && listOf(line.value, kind) !== null)) {
      const run = readBody(file, kind, line)
      for (const entry of run.damage) context.damage({ line: line.line, reason: entry.reason })
      ignoreDropped(context, run.dropped)
      if (run.trajectory !== null) yield run.trajectory
    } else context.damage({ line: line.line, reason: 'record is neither a message nor a request body' })
  }
  if (messages.length === 0) return
  const lineOf = (index: number): number => messages[index]?.line ?? 1
  const run = translated(file, () =>
    historyTrajectory({
      judge: kind.judge,
      text: `[${messages.map((message) => message.raw).join(',')}]`,
      format,
      ...identity(file, format, { body: null, place: '' }),
      source: { file: file.name },
      sourceOf: (index) => ({ file: file.name, line: lineOf(index) }),
    }),
  )
  for (const entry of run.damage) context.damage({ line: lineOf(entry.index), reason: entry.reason })
  ignoreDropped(context, run.dropped)
  yield run.trajectory
}

function ignoreDropped(context: ReadContext, dropped: number): void {
  if (dropped > 0) context.ignore('answer to a summary', dropped)
}

/** One line that is a request body or a message list; null, with the reason, when it is no history. */
function readBody(
  file: LogFile,
  kind: ChatLogKind,
  line: { readonly line: number; readonly value: unknown; readonly raw: string },
): {
  readonly trajectory: Trajectory | null
  readonly damage: readonly { readonly reason: string }[]
  readonly dropped: number
} {
  try {
    const { trajectory, damage, dropped } = historyTrajectory({
      judge: kind.judge,
      text: textOf(kind, line.raw, line.value),
      ...(kind.bodyText === undefined ? { value: line.value } : {}),
      format: kind.format,
      ...identity(file, kind.format, { body: line.value, place: `-line${line.line}` }),
      source: { file: file.name, line: line.line },
      sourceOf: (index) => ({ file: file.name, line: line.line, index }),
    })
    return {
      trajectory,
      damage: damage.map(({ index, reason }) => ({ reason: `message ${index}: ${reason}` })),
      dropped,
    }
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    return { trajectory: null, damage: [{ reason: cause.message }], dropped: 0 }
  }
}

/** Id and group: a session id where the body names one, else the file, and the task as the unit of near copies. */
function identity(
  file: LogFile,
  format: HistoryFormat,
  run: { readonly body: unknown; readonly place: string },
): Pick<HistoryRun, 'id' | 'domain' | 'groupOf' | 'truncated'> {
  const session = isObject(run.body) ? (idOf(run.body.session_id) ?? idOf(run.body.conversation_id)) : null
  const own = `${fileStem(file.name)}-${file.sha256.slice(0, 8)}${run.place}`
  return {
    id: `${format}/${own}`,
    domain: format,
    // A response body that ran into its token limit.
    truncated: isObject(run.body) && run.body.status === 'incomplete',
    groupOf: (task) =>
      session !== null
        ? sessionGroup(format, session)
        : task.trim() === ''
          ? sessionGroup(format, own)
          : taskGroup(format, task),
  }
}

function translated<T>(file: LogFile, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'history-malformed') throw cause
    throw new AppError('log-malformed', `${file.name}: ${cause.message}; try another --format`, { cause })
  }
}
