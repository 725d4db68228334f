/**
 * Logs that hold a provider's own messages, for OpenAI chat and Anthropic Messages alike: a bare list or a request body as
 * one JSON file, JSONL with one body or list per line, or JSONL with one message per line.
 */
import { AppError } from '../../src/errors.ts'
import type { HistoryFormat } from '../../src/protocol/history.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup, taskGroup } from '../groups.ts'
import { fileStem } from './file-stem.ts'
import { type HistoryRun, historyTrajectory } from './history-trajectory.ts'
import type { LogFile, LogSample, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, stringOf } from './json-value.ts'
import { isLiveMcpTask } from './livemcpbench.ts'

/** All messages in the sample, and the request bodies around them. */
export interface ChatShape {
  readonly messages: readonly JsonObject[]
  readonly bodies: readonly JsonObject[]
}

/** Null for what holds no message list: also a lone message, which is an answer rather than a history. */
export function chatShape(sample: LogSample): ChatShape | null {
  const values = sample.document === undefined ? sample.records : [sample.document]
  const bodies: JsonObject[] = []
  const messages: JsonObject[] = []
  let others = 0
  for (const value of values) {
    if (isBody(value)) {
      bodies.push(value)
      messages.push(...arrayOf(value.messages).filter(isMessage))
    } else if (Array.isArray(value) && value.some(isMessage)) messages.push(...value.filter(isMessage))
    else if (isMessage(value) && sample.document === undefined) messages.push(value)
    else others += 1
  }
  // Damaged lines are no records; whole records of another kind say that the file is another format.
  return messages.length === 0 || others * 5 > values.length ? null : { messages, bodies }
}

function isMessage(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.role === 'string' && ('content' in value || 'tool_calls' in value)
}

function isBody(value: unknown): value is JsonObject {
  return isObject(value) && Array.isArray(value.messages) && value.messages.some(isMessage)
}

/**
 * Agents whose logs look like chat messages but use the roles for something else: there the user role carries
 * observations, and importing them as chat would turn every observation into a person's words.
 */
export function isOtherAgentsLog(shape: ChatShape): boolean {
  if (shape.bodies.some((body) => stringOf(body.trajectory_format).startsWith('mini-swe-agent'))) return true
  if (shape.bodies.some(isLiveMcpTask)) return true
  // A model call of OpenHands: its response is the newest interaction, and its messages may hold results as user text.
  if (shape.bodies.some((body) => 'response' in body && 'latency_sec' in body)) return true
  return shape.messages.some(
    ({ role, content }) =>
      (role === 'user' && /^\s*<returncode>/.test(stringOf(content))) ||
      (role === 'assistant' && stringOf(content).includes('```mswea_bash_command\n')),
  )
}

/** Throws log-malformed when the file holds no message list at all. */
export function readChatLog(file: LogFile, format: HistoryFormat, context: ReadContext): AsyncIterable<Trajectory> {
  return file.sample.document === undefined ? readLines(file, format, context) : readDocument(file, format, context)
}

async function* readDocument(file: LogFile, format: HistoryFormat, context: ReadContext): AsyncGenerator<Trajectory> {
  const { document } = file.sample
  const text = isMessage(document) ? `[${await file.text()}]` : await file.text()
  const { trajectory, damage } = translated(file, () =>
    historyTrajectory({
      text,
      format,
      ...identity(file, format, { body: document, place: '' }),
      source: { file: file.name },
    }),
  )
  for (const entry of damage) context.damage(entry)
  yield trajectory
}

async function* readLines(file: LogFile, format: HistoryFormat, context: ReadContext): AsyncGenerator<Trajectory> {
  const messages: { readonly raw: string; readonly line: number }[] = []
  for await (const line of file.lines()) {
    if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
    else if (isMessage(line.value)) messages.push({ raw: line.raw, line: line.line })
    else if (isBody(line.value) || Array.isArray(line.value)) {
      const run = readBody(file, format, line)
      for (const entry of run.damage) context.damage({ line: line.line, reason: entry.reason })
      if (run.trajectory !== null) yield run.trajectory
    } else context.damage({ line: line.line, reason: 'record is neither a message nor a request body' })
  }
  if (messages.length === 0) return
  const lineOf = (index: number): number => messages[index]?.line ?? 1
  const run = translated(file, () =>
    historyTrajectory({
      text: `[${messages.map((message) => message.raw).join(',')}]`,
      format,
      ...identity(file, format, { body: null, place: '' }),
      source: { file: file.name },
      sourceOf: (index) => ({ file: file.name, line: lineOf(index) }),
    }),
  )
  for (const entry of run.damage) context.damage({ line: lineOf(entry.index), reason: entry.reason })
  yield run.trajectory
}

/** One line that is a request body or a message list; null, with the reason, when it is no history. */
function readBody(
  file: LogFile,
  format: HistoryFormat,
  line: { readonly line: number; readonly value: unknown; readonly raw: string },
): { readonly trajectory: Trajectory | null; readonly damage: readonly { readonly reason: string }[] } {
  try {
    const { trajectory, damage } = historyTrajectory({
      text: line.raw,
      format,
      ...identity(file, format, { body: line.value, place: `-line${line.line}` }),
      source: { file: file.name, line: line.line },
      sourceOf: (index) => ({ file: file.name, line: line.line, index }),
    })
    return { trajectory, damage: damage.map(({ index, reason }) => ({ reason: `message ${index}: ${reason}` })) }
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    return { trajectory: null, damage: [{ reason: cause.message }] }
  }
}

/** Id and group: a session id where the body names one, else the file, and the task as the unit of near copies. */
function identity(
  file: LogFile,
  format: HistoryFormat,
  run: { readonly body: unknown; readonly place: string },
): Pick<HistoryRun, 'id' | 'domain' | 'groupOf'> {
  const session = isObject(run.body) ? (idOf(run.body.session_id) ?? idOf(run.body.conversation_id)) : null
  const own = `${fileStem(file.name)}-${file.sha256.slice(0, 8)}${run.place}`
  return {
    id: `${format}/${own}`,
    domain: format,
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
