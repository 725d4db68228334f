/**
 * Google ADK sessions: {id, events[]}, in snake_case or camelCase. An event with content of role model is one model call of
 * its author; sub-agents share the list, so the author is the actor. Function calls often carry no ids: results are paired
 * by the event they name, else by name and order inside the batch of their author.
 */
import { AppError } from '../../src/errors.ts'
import type { SourceRef, ToolCall, Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { contentText } from './content-text.ts'
import { responseOf } from './gemini-cli-session.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export const googleAdk: Importer = {
  name: 'google-adk',
  summary: 'Google ADK sessions (JSON with events of authors and parts)',
  detect({ document }) {
    const events = isObject(document) ? arrayOf(document.events).filter(isEvent).length : 0
    return events === 0 ? null : { because: `${events} events with an author, an invocation and content parts` }
  },
  async *read(file, context) {
    const { document } = file.sample
    if (!isObject(document) || !Array.isArray(document.events))
      throw new AppError('log-malformed', `${file.name} is no Google ADK session: it has no events`)
    const entries = document.events.flatMap((value, index): readonly Entry[] => {
      if (isObject(value) && typeof value.author === 'string') return [{ value, index }]
      context.damage({ index, reason: 'event has no author' })
      return []
    })
    const { live, abandoned } = replay(entries, context)
    const session = idOf(document.id) ?? file.sha256.slice(0, 16)
    yield trajectoryOf(live, { file, context, session, branch: 1 })
    if (!context.allBranches) return
    const quiet: ReadContext = { allBranches: true, damage: () => undefined, ignore: () => undefined }
    for (const [index, path] of abandoned.entries())
      yield trajectoryOf(path, { file, context: quiet, session, branch: index + 2 })
  },
}

interface Entry {
  readonly value: JsonObject
  readonly index: number
}

/** A field under its Python or its JSON name. */
function field(record: JsonObject, snake: string): unknown {
  return record[snake] ?? record[snake.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]
}

function isEvent(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.author === 'string' &&
    typeof field(value, 'invocation_id') === 'string' &&
    Array.isArray(objectOf(value.content).parts)
  )
}

/** A rewind takes everything back from the named invocation on. */
function replay(
  entries: readonly Entry[],
  context: ReadContext,
): { readonly live: readonly Entry[]; readonly abandoned: readonly (readonly Entry[])[] } {
  let live: Entry[] = []
  const abandoned: (readonly Entry[])[] = []
  for (const entry of entries) {
    const target = idOf(field(objectOf(entry.value.actions), 'rewind_before_invocation_id'))
    const at = target === null ? -1 : live.findIndex(({ value }) => field(value, 'invocation_id') === target)
    if (target !== null && at === -1)
      context.damage({ index: entry.index, reason: `rewind to the unknown invocation ${target}: nothing taken back` })
    if (at !== -1) {
      if (context.allBranches) abandoned.push(live)
      else context.ignore('message of a dead branch', live.length - at)
      live = live.slice(0, at)
    }
    live.push(entry)
  }
  return { live, abandoned }
}

interface Log {
  readonly file: LogFile
  readonly context: ReadContext
  readonly session: string
  readonly branch: number
}

function trajectoryOf(entries: readonly Entry[], { file, context, session, branch }: Log): Trajectory {
  const run = createRunBuilder()
  const links: Links = { byEvent: new Map(), byAuthor: new Map() }
  let lastError = false
  for (const { value, index } of entries) {
    lastError = idOf(field(value, 'error_code')) !== null
    addEvent(run, value, { source: { file: file.name, index }, context, links })
  }
  return builtTrajectory({
    format: 'google-adk',
    id: `google-adk/${session}${branch === 1 ? '' : `~branch${branch}`}`,
    group: sessionGroup('google-adk', session),
    ...run.finish(),
    truncated: branch === 1 && lastError,
    source: { file: file.name },
  })
}

interface Links {
  /** Interaction of each event, and the newest one with calls of each author. */
  readonly byEvent: Map<string, number>
  readonly byAuthor: Map<string, number>
}

function addEvent(
  run: RunBuilder,
  event: JsonObject,
  place: { readonly source: SourceRef; readonly context: ReadContext; readonly links: Links },
): void {
  const { source, context, links } = place
  const compaction = field(objectOf(event.actions), 'compaction')
  if (isObject(compaction)) {
    run.turn('summary', partsText(arrayOf(objectOf(field(compaction, 'compacted_content')).parts)), source)
    return
  }
  const parts = arrayOf(objectOf(event.content).parts)
  if (parts.length === 0) {
    context.ignore(idOf(field(event, 'error_code')) === null ? 'event without content' : 'failed model call')
    return
  }
  if (event.partial === true) {
    context.ignore('partial event')
    return
  }
  const author = stringOf(event.author)
  const responses = parts.flatMap((part) => functionPart(part, 'function_response'))
  const rest = parts.filter((part) => functionPart(part, 'function_response').length === 0)
  const named = idOf(field(objectOf(event.options), 'function_call_event_id'))
  for (const response of responses) {
    const of = (named === null ? undefined : links.byEvent.get(named)) ?? links.byAuthor.get(author)
    const { content, isError } = responseOf(response)
    pairResult(run, { callId: idOf(response.id), name: idOf(response.name), content, isError }, { source, context, of })
  }
  if (rest.length === 0) return
  if (author === 'user') run.turn('user', partsText(rest), source)
  else if (objectOf(event.content).role === 'user') run.turn('context', partsText(rest), source)
  else {
    const call = modelCall(rest)
    const index = run.call({ ...call, actor: author, source })
    if (typeof event.id === 'string') links.byEvent.set(event.id, index)
    if (call.toolCalls.length > 0) links.byAuthor.set(author, index)
  }
}

function modelCall(parts: readonly unknown[]): {
  readonly reasoning: string
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
} {
  const isThought = (part: unknown): boolean => isObject(part) && part.thought === true
  const isCall = (part: unknown): boolean => functionPart(part, 'function_call').length > 0
  return {
    reasoning: partsText(parts.filter(isThought)),
    text: partsText(parts.filter((part) => !isThought(part) && !isCall(part))),
    toolCalls: parts
      .flatMap((part) => functionPart(part, 'function_call'))
      .map((call) => ({ id: idOf(call.id), name: stringOf(call.name), arguments: textOf(call.args) })),
  }
}

function functionPart(part: unknown, name: 'function_call' | 'function_response'): readonly JsonObject[] {
  const value = isObject(part) ? field(part, name) : undefined
  return isObject(value) ? [value] : []
}

function partsText(parts: readonly unknown[]): string {
  return contentText(parts)
}
