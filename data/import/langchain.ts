/**
 * LangChain message dumps: lists of lc constructors ({lc: 1, type: "constructor", id, kwargs}) or of plain dicts ({type, data}
 * or {type, content}), one JSON or JSONL.
 */
import { AppError } from '../../src/errors.ts'
import type { SourceRef, Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup, taskGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { isObject, objectOf, stringOf } from './json-value.ts'
import { addLangChainMessage, type LangChainMessage, langChainMessage, wasStopped } from './langchain-messages.ts'
import { createRunBuilder } from './run-builder.ts'

const PLAIN_TYPES = new Set(['human', 'ai', 'tool', 'system', 'AIMessageChunk'])

export const langChain: Importer = {
  name: 'langchain',
  summary: 'LangChain message dumps (lc constructors or dicts with type human, ai, tool)',
  detect({ document, records }) {
    const values = document === undefined ? records : [document]
    const lists = values.map(messageList)
    const messages = lists.every((list) => list === null) ? values : lists.flatMap((list) => list ?? [])
    const marked = messages.filter(isMarked).length
    if (marked === 0) return null
    return messages.some(isConstructor)
      ? { because: `${marked} messages as lc constructors` }
      : { because: `${marked} messages of types human, ai and tool` }
  },
  async *read(file, context) {
    const { document } = file.sample
    if (document === undefined) yield* readLines(file, context)
    else {
      const list = messageList(document) ?? []
      if (list.every((message) => langChainMessage(message) === null))
        throw new AppError('log-malformed', `${file.name} holds no LangChain messages`)
      yield runOf(
        list.map((value, index) => ({ value, source: { file: file.name, index } })),
        { file, context, place: '' },
      )
    }
  },
}

/** A message of LangChain and of nothing else. */
function isMarked(value: unknown): boolean {
  if (!isObject(value) || langChainMessage(value) === null || 'role' in value || 'uuid' in value) return false
  return isConstructor(value) || PLAIN_TYPES.has(stringOf(value.type))
}

function isConstructor(value: unknown): boolean {
  return isObject(value) && value.lc === 1
}

/** A bare list, an object that holds one, or a prompt value. Null for anything else. */
function messageList(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value
  if (!isObject(value) || 'run_type' in value || 'values' in value) return null
  if (Array.isArray(value.messages)) return value.messages
  const inner = objectOf(value.kwargs).messages
  return Array.isArray(inner) ? inner : null
}

interface Entry {
  readonly value: unknown
  readonly source: SourceRef
}

interface Log {
  readonly file: LogFile
  readonly context: ReadContext
  /** Ending of the id, where a file holds several runs. */
  readonly place: string
}

async function* readLines(file: LogFile, context: ReadContext): AsyncGenerator<Trajectory> {
  const messages: Entry[] = []
  let runs = 0
  for await (const line of file.lines()) {
    const source = { file: file.name, line: line.line }
    const list = line.kind === 'record' ? messageList(line.value) : null
    if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
    else if (list !== null) {
      runs += 1
      const entries = list.map((value, index) => ({ value, source: { ...source, index } }))
      yield runOf(entries, { file, context, place: `-line${line.line}` })
    } else messages.push({ value: line.value, source })
  }
  if (messages.length > 0) yield runOf(messages, { file, context, place: '' })
  else if (runs === 0) throw new AppError('log-malformed', `${file.name} holds no LangChain messages`)
}

function runOf(entries: readonly Entry[], { file, context, place }: Log): Trajectory {
  const run = createRunBuilder()
  const system: string[] = []
  let last: LangChainMessage | null = null
  for (const { value, source } of entries) {
    const message = langChainMessage(value)
    if (message === null) {
      const where = source.line === undefined ? { index: source.index ?? 0 } : { line: source.line }
      context.damage({ ...where, reason: 'record is no LangChain message' })
      continue
    }
    if (message.kind === 'ai') last = message
    addLangChainMessage(run, message, { source, context, system })
  }
  const built = run.finish()
  const own = `${fileStem(file.name)}-${file.sha256.slice(0, 8)}${place}`
  return builtTrajectory({
    format: 'langchain',
    id: `langchain/${own}`,
    group: built.task.trim() === '' ? sessionGroup('langchain', own) : taskGroup('langchain', built.task),
    system: system.join('\n\n'),
    ...built,
    truncated: last !== null && wasStopped(last),
    source: { file: file.name },
  })
}
