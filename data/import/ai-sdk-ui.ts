/**
 * AI SDK UI messages: what a chat interface stores, as a list, a chat `{id, messages}`, or JSONL of either or of single
 * messages. One assistant message holds the whole answer to a user message: `step-start` parts separate its model calls,
 * and a tool part is a call together with what became of it.
 */
import { AppError } from '../../src/errors.ts'
import type { SourceRef, Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup, taskGroup } from '../groups.ts'
import { addUiMessage, isUiMessage } from './ai-sdk-ui-message.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { idOf, isObject, type JsonObject } from './json-value.ts'
import { createRunBuilder } from './run-builder.ts'

export const aiSdkUi: Importer = {
  name: 'ai-sdk-ui',
  summary: 'AI SDK UI messages with typed parts (a list, a chat, or JSONL of them)',
  detect({ document, records }) {
    const values = document === undefined ? records : [document]
    const messages = values.flatMap((value) =>
      document === undefined && isUiMessage(value) ? [value] : (listOf(value) ?? []),
    )
    const count = messages.filter(isUiMessage).length
    return count === 0 || count * 2 < messages.length ? null : { because: `${count} messages of typed parts` }
  },
  read: (file, context) =>
    file.sample.document === undefined ? readLines(file, context) : readDocument(file, context),
}

/** One message and where it stands. */
interface Entry {
  readonly value: unknown
  readonly source: SourceRef
}

function listOf(value: unknown): readonly unknown[] | null {
  const list: unknown = isObject(value) ? value.messages : value
  return Array.isArray(list) && list.some(isUiMessage) ? list : null
}

async function* readDocument(file: LogFile, context: ReadContext): AsyncGenerator<Trajectory> {
  const { document } = file.sample
  const list = isUiMessage(document) ? [document] : listOf(document)
  if (list === null)
    throw new AppError(
      'log-malformed',
      `${file.name} holds no AI SDK UI messages: it needs a list of messages with parts`,
    )
  const entries = list.map((value, index) => ({ value, source: { file: file.name, index } }))
  yield runOf(entries, { file, context, chat: document, place: '', source: { file: file.name } })
}

async function* readLines(file: LogFile, context: ReadContext): AsyncGenerator<Trajectory> {
  const single: Entry[] = []
  for await (const record of file.lines()) {
    const { line } = record
    if (record.kind === 'problem') {
      context.damage({ line, reason: record.reason })
      continue
    }
    const list = listOf(record.value)
    const source = { file: file.name, line }
    if (isUiMessage(record.value)) single.push({ value: record.value, source })
    else if (list === null) context.damage({ line, reason: 'record is neither a UI message nor a chat' })
    else {
      const entries = list.map((value, index) => ({ value, source: { ...source, index } }))
      yield runOf(entries, { file, context, chat: record.value, place: `-line${line}`, source })
    }
  }
  if (single.length > 0) yield runOf(single, { file, context, chat: null, place: '', source: { file: file.name } })
}

function runOf(
  entries: readonly Entry[],
  about: {
    readonly file: LogFile
    readonly context: ReadContext
    readonly chat: unknown
    readonly place: string
    readonly source: SourceRef
  },
): Trajectory {
  const { file, context, place, source } = about
  const run = createRunBuilder()
  const system: string[] = []
  for (const { value, source: own } of entries) {
    if (isUiMessage(value)) addUiMessage(run, { message: value, source: own, context, system })
    else
      context.damage({
        ...(own.line === undefined ? {} : { line: own.line }),
        ...(own.index === undefined ? {} : { index: own.index }),
        reason: 'record is no UI message: it needs a role and a list of parts',
      })
  }
  const { interactions, turns, task } = run.finish()
  const chat = isObject(about.chat) ? chatId(about.chat) : null
  const own = `${fileStem(file.name)}-${file.sha256.slice(0, 8)}${place}`
  return builtTrajectory({
    format: 'ai-sdk-ui',
    id: `ai-sdk-ui/${own}`,
    group: chat !== null || task.trim() === '' ? sessionGroup('ai-sdk-ui', chat ?? own) : taskGroup('ai-sdk-ui', task),
    system: system.join('\n\n'),
    interactions,
    turns,
    task,
    truncated: false,
    source,
  })
}

function chatId(chat: JsonObject): string | null {
  return 'messages' in chat ? (idOf(chat.chatId) ?? idOf(chat.id)) : null
}
