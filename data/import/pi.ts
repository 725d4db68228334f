/**
 * pi / OpenClaw session JSONL; which entries make up a run is pi-tree.ts. A failed model call (empty content with an error) is no interaction.
 */
import { AppError } from '../../src/errors.ts'
import { type Mark, TRAJECTORY_SCHEMA_VERSION, type Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { contentText } from './content-text.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { orderPiSession, type PiEntry } from './pi-tree.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

/** Kinds that belong to the program's state, not to the conversation. */
const STATE_KINDS = new Set([
  'session',
  'model_change',
  'thinking_level_change',
  'custom',
  'label',
  'session_info',
  'system',
])

export const pi: Importer = {
  name: 'pi',
  summary: 'pi / OpenClaw session JSONL (first line {"type":"session"})',
  detect({ records }) {
    const header = records.find((record) => isObject(record) && record.type === 'session' && 'cwd' in record)
    const message = records.find((record) => isObject(record) && record.type === 'message' && isObject(record.message))
    if (header === undefined || message === undefined) return null
    return { because: 'a session header with cwd, and records of type message' }
  },
  async *read(file, context) {
    const entries = await readEntries(file, context)
    const header = entries.find((entry) => entry.value.type === 'session')?.value
    if (header === undefined && entries.every((entry) => entry.value.type !== 'message'))
      throw new AppError('log-malformed', `${file.name} is no pi session: it has neither a session header nor messages`)
    const sessionId = idOf(header?.id) ?? file.sha256.slice(0, 16)
    const common = {
      schemaVersion: TRAJECTORY_SCHEMA_VERSION,
      group: sessionGroup('pi', rootSession(header) ?? sessionId),
      domain: 'pi',
      format: 'pi',
      system: systemOf(entries),
      parent: null,
      source: { file: file.name },
    } as const
    const { live, branches } = orderPiSession(entries, context)
    yield { ...common, id: `pi/${sessionId}`, ...buildRun(live, { entries, file, report: context }) }
    for (const [index, branch] of branches().entries()) {
      const id = `pi/${sessionId}~branch${index + 2}`
      yield {
        ...common,
        id,
        ...buildRun(branch, {
          entries,
          file,
          report: { ...context, damage: () => undefined, ignore: () => undefined },
        }),
      }
    }
  },
}

function buildRun(
  path: readonly PiEntry[],
  given: { readonly entries: readonly PiEntry[]; readonly file: LogFile; readonly report: ReadContext },
): Pick<Trajectory, 'interactions' | 'turns' | 'task' | 'truncated' | 'marks'> {
  const { entries, file, report } = given
  const run = createRunBuilder()
  /** Interactions before each entry. */
  const countBefore = new Map<PiEntry, number>()
  const marks: Mark[] = []
  let lastStop = ''
  for (const entry of path) {
    countBefore.set(entry, run.count)
    if (entry.value.type === 'compaction') {
      const kept = firstKept(entry.value, entries)
      const keptFrom = kept === undefined ? undefined : countBefore.get(kept)
      if (keptFrom !== undefined) marks.push({ kind: 'compaction', before: run.count, keptFrom })
    }
    const message = objectOf(entry.value.message)
    if (entry.value.type === 'message' && message.role === 'assistant') lastStop = stringOf(message.stopReason)
    addEntry({ run, entry, file, report })
  }
  return {
    ...run.finish(),
    truncated: lastStop === 'length' || lastStop === 'aborted' || lastStop === 'error',
    ...(marks.length === 0 ? {} : { marks }),
  }
}

/** v1 names the first record that a compaction kept by its place in the file, later versions by its id. */
function firstKept(compaction: JsonObject, entries: readonly PiEntry[]): PiEntry | undefined {
  const { firstKeptEntryIndex, firstKeptEntryId } = compaction
  if (typeof firstKeptEntryId === 'string') return entries.find((entry) => entry.value.id === firstKeptEntryId)
  return typeof firstKeptEntryIndex === 'number'
    ? entries.find((entry) => entry.line === firstKeptEntryIndex + 1)
    : undefined
}

/** `details` repeats a result in structured form and is most of a file: dropped while reading. */
async function readEntries(file: LogFile, context: ReadContext): Promise<readonly PiEntry[]> {
  const entries: PiEntry[] = []
  for await (const line of file.lines()) {
    if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
    else if (isObject(line.value) && typeof line.value.type === 'string')
      entries.push({ line: line.line, value: withoutDetails(line.value) })
    else context.damage({ line: line.line, reason: 'record is no object with a type' })
  }
  return entries
}

function withoutDetails(value: JsonObject): JsonObject {
  if (!isObject(value.message) || value.message.details === undefined) return value
  const { details: _, ...message } = value.message
  return { ...value, message }
}

/** The session that this one was branched from shares its beginning: both are one group. */
function rootSession(header: JsonObject | undefined): string | null {
  const origin = stringOf(header?.branchedFrom) || stringOf(header?.parentSession)
  return /_([0-9a-f-]{36})\.jsonl$/.exec(origin)?.[1] ?? null
}

/** Newer files log the prompt as a record with content or sections. */
function systemOf(entries: readonly PiEntry[]): string {
  return entries
    .filter((entry) => entry.value.type === 'system')
    .map(({ value }) => contentText(value.content) || arrayOf(value.sections).map(sectionText).join('\n\n'))
    .filter((text) => text !== '')
    .join('\n\n')
}

function sectionText(section: unknown): string {
  return isObject(section) ? contentText(section.content ?? section.text) : contentText(section)
}

function addEntry(context: {
  readonly run: RunBuilder
  readonly entry: PiEntry
  readonly file: LogFile
  readonly report: ReadContext
}): void {
  const { run, entry, file, report } = context
  const { value, line } = entry
  const source = { file: file.name, line }
  const kind = String(value.type)
  if (kind === 'message' && isObject(value.message)) addMessage(context, value.message)
  else if (kind === 'compaction' || kind === 'branch_summary') run.turn('summary', stringOf(value.summary), source)
  else if (kind === 'custom_message') run.turn('context', contentText(value.content), source)
  else if (STATE_KINDS.has(kind)) report.ignore(kind)
  else if (kind === 'message') report.damage({ line, reason: 'record of type message has no message object' })
  else report.ignore(`unknown ${kind}`)
}

function addMessage(
  context: {
    readonly run: RunBuilder
    readonly entry: PiEntry
    readonly file: LogFile
    readonly report: ReadContext
  },
  message: JsonObject,
): void {
  const { run, report } = context
  const { line } = context.entry
  const source = { file: context.file.name, line }
  switch (message.role) {
    case 'user':
      run.turn('user', contentText(message.content), source)
      break
    case 'assistant': {
      const blocks = arrayOf(message.content).filter(isObject)
      if (blocks.length === 0 && typeof message.content !== 'string') report.ignore('failed model call')
      else
        run.call({
          reasoning: contentOf(blocks, 'thinking'),
          text: typeof message.content === 'string' ? message.content : contentOf(blocks, 'text'),
          toolCalls: blocks
            .filter((block) => block.type === 'toolCall')
            .map((block) => ({ id: idOf(block.id), name: stringOf(block.name), arguments: textOf(block.arguments) })),
          source,
        })
      break
    }
    case 'toolResult': {
      const callId = idOf(message.toolCallId)
      const content = contentText(message.content)
      const pairing = run.result({ callId, name: idOf(message.toolName), content, isError: message.isError === true })
      if (pairing !== 'paired') report.damage({ line, reason: `${pairing} result of call ${callId ?? '(no id)'}` })
      if (pairing === 'orphan') run.turn('context', content, source)
      break
    }
    case 'bashExecution':
      run.turn('context', `$ ${stringOf(message.command)}\n${stringOf(message.output)}`, source)
      break
    case 'compactionSummary':
    case 'branchSummary':
      run.turn('summary', stringOf(message.summary), source)
      break
    default:
      if (message.content === undefined)
        report.damage({ line, reason: `message has the unknown role ${String(message.role)}` })
      else run.turn('context', contentText(message.content), source)
  }
}

function contentOf(blocks: readonly JsonObject[], kind: 'thinking' | 'text'): string {
  return blocks
    .filter((block) => block.type === kind)
    .map((block) => stringOf(block[kind]))
    .filter((text) => text !== '')
    .join('\n')
}
