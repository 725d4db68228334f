/**
 * Gemini CLI: session files (one JSON, or JSONL that is replayed) and the records of `--output-format stream-json`.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { createGeminiReplay, type GeminiEntry } from './gemini-cli-replay.ts'
import { addGeminiMessages, lastStop } from './gemini-cli-session.ts'
import { readGeminiStream } from './gemini-cli-stream.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, stringOf } from './json-value.ts'
import { createRunBuilder } from './run-builder.ts'

const MESSAGE_TYPES = new Set(['user', 'gemini', 'info', 'warning', 'error'])

export const geminiCli: Importer = {
  name: 'gemini-cli',
  summary: 'Gemini CLI sessions (JSON, JSONL) and stream-json records',
  detect({ document, records }) {
    if (isSession(document)) return { because: 'an object with sessionId and messages of types user and gemini' }
    if (records.some(isHeader) && records.some((record) => isMessage(record) || isPatch(record)))
      return { because: 'a header of sessionId and projectHash before messages, $set and $rewindTo records' }
    if (records.some(isStreamInit) && records.some((record) => isObject(record) && record.type === 'message'))
      return { because: 'an init record with session_id and model before message records' }
    return null
  },
  async *read(file, context) {
    const { document, records } = file.sample
    if (records.some(isStreamInit)) yield await readGeminiStream(file, context)
    else if (isObject(document) && Array.isArray(document.messages)) yield* readDocument(document, { file, context })
    else yield* readJsonLines(file, context)
  },
}

function isMessage(value: unknown): value is JsonObject {
  return (
    isObject(value) && typeof value.id === 'string' && MESSAGE_TYPES.has(stringOf(value.type)) && !('uuid' in value)
  )
}

function isSession(value: unknown): boolean {
  if (!isObject(value) || typeof value.sessionId !== 'string' || !Array.isArray(value.messages)) return false
  return 'projectHash' in value || value.messages.some((message) => isMessage(message) && message.type === 'gemini')
}

function isHeader(value: unknown): boolean {
  return isObject(value) && typeof value.sessionId === 'string' && typeof value.projectHash === 'string'
}

function isPatch(value: unknown): boolean {
  return isObject(value) && ('$set' in value || '$rewindTo' in value)
}

function isStreamInit(value: unknown): boolean {
  return isObject(value) && value.type === 'init' && typeof value.session_id === 'string' && 'model' in value
}

interface Log {
  readonly file: LogFile
  readonly context: ReadContext
}

function* readDocument(document: JsonObject, { file, context }: Log): Generator<Trajectory> {
  const entries = arrayOf(document.messages).flatMap((value, index): readonly GeminiEntry[] => {
    if (isMessage(value)) return [{ value, source: { file: file.name, index } }]
    context.damage({ index, reason: 'message has no id, or a type that is none of a Gemini CLI message' })
    return []
  })
  yield sessionTrajectory(entries, { file, context, header: document, branch: 1 })
}

async function* readJsonLines(file: LogFile, context: ReadContext): AsyncGenerator<Trajectory> {
  let header: JsonObject = {}
  const replay = createGeminiReplay(context)
  for await (const line of file.lines()) {
    const source = { file: file.name, line: line.line }
    if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
    else if (isMessage(line.value)) replay.message({ value: line.value, source })
    else if (isObject(line.value) && typeof line.value.$rewindTo === 'string')
      replay.rewind(line.value.$rewindTo, source)
    else if (isObject(line.value) && isObject(line.value.$set)) {
      header = { ...header, ...line.value.$set }
      if (Array.isArray(line.value.$set.messages)) replay.replace(line.value.$set.messages.filter(isMessage), source)
    } else if (isHeader(line.value) && isObject(line.value)) {
      header = { ...header, ...line.value }
      if (Array.isArray(line.value.messages)) replay.replace(line.value.messages.filter(isMessage), source)
    } else
      context.damage({ line: line.line, reason: 'record is no message, $set or $rewindTo of a Gemini CLI session' })
  }
  if (typeof header.sessionId !== 'string' && replay.live().length === 0)
    throw new AppError('log-malformed', `${file.name} is no Gemini CLI session: it has neither a header nor messages`)
  yield sessionTrajectory(replay.live(), { file, context, header, branch: 1 })
  if (!context.allBranches) return
  const quiet: ReadContext = { allBranches: true, damage: () => undefined, ignore: () => undefined }
  for (const [index, entries] of replay.abandoned().entries())
    yield sessionTrajectory(entries, { file, context: quiet, header, branch: index + 2 })
}

function sessionTrajectory(
  entries: readonly GeminiEntry[],
  { file, context, header, branch }: Log & { readonly header: JsonObject; readonly branch: number },
): Trajectory {
  const run = createRunBuilder()
  addGeminiMessages(run, entries, context)
  const sessionId = idOf(header.sessionId) ?? file.sha256.slice(0, 16)
  const parent = header.kind === 'subagent' ? parentFolder(file.path) : null
  return builtTrajectory({
    format: 'gemini-cli',
    id: `gemini-cli/${sessionId}${branch === 1 ? '' : `~branch${branch}`}`,
    group: sessionGroup('gemini-cli', parent ?? sessionId),
    ...run.finish(),
    truncated: branch === 1 && lastStop(entries),
    parent: parent === null ? null : `gemini-cli/${parent}`,
    source: { file: file.name },
  })
}

/** A sub-agent's file lies in a folder that has the parent's session id for its name. */
function parentFolder(path: string): string | null {
  const folder = path.split(/[\\/]/).at(-2) ?? ''
  return /^[0-9a-f-]{8,}$/i.test(folder) ? folder : null
}
