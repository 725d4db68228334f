/**
 * Codex rollout JSONL -> trajectories. `response_item` is canonical; `event_msg` mirrors it and is only counted, but for
 * two events that say what the items do not: a rollback takes user turns back, and an abort or an error ends the run.
 * Rollouts from before the wrapper (bare items, a header of id and instructions) are read too.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { addCodexEntry, type CodexEntry, createCodexRun, endCall, isUserEntry } from './codex-items.ts'
import { contentText } from './content-text.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { idOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'

const WRAPPED = new Set(['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted'])
const BARE_ITEMS = new Set(['message', 'reasoning', 'function_call', 'function_call_output', 'local_shell_call'])
/** After one of these the next item belongs to another model call. */
const TURN_EVENTS = new Set(['task_started', 'turn_started', 'task_complete', 'turn_complete', 'turn_aborted'])

interface Rollout {
  /** First is the session's own; a fork copies those of its ancestors behind it. */
  readonly metas: readonly JsonObject[]
  readonly live: readonly CodexEntry[]
  /** Whole paths that a rollback has left. */
  readonly abandoned: readonly (readonly CodexEntry[])[]
  readonly isCut: boolean
}

export const codex: Importer = {
  name: 'codex',
  summary: 'Codex rollout JSONL (~/.codex/sessions/**/rollout-*.jsonl)',
  detect({ records }) {
    const isWrapped = (record: unknown): boolean =>
      isObject(record) && isObject(record.payload) && WRAPPED.has(stringOf(record.type))
    const wrapped = records.filter(isWrapped).length
    if (wrapped > 0 && records.some((record) => isObject(record) && record.type === 'response_item'))
      return { because: `${wrapped} of the first records are rollout items with type and payload` }
    if (wrapped > 0 && records.some((record) => isObject(record) && record.type === 'session_meta'))
      return { because: 'a session_meta record with a payload' }
    return records.some(isBareHeader) && records.some((record) => isBareItem(record))
      ? { because: 'a header of id, timestamp and instructions before response items' }
      : null
  },
  async *read(file, context) {
    const rollout = await readRollout(file, context)
    if (rollout.metas.length === 0 && rollout.live.length === 0)
      throw new AppError('log-malformed', `${file.name} is no Codex rollout: it has neither session_meta nor items`)
    yield trajectoryOf(rollout.live, { rollout, file, context, branch: 1 })
    if (!context.allBranches) return
    const quiet: ReadContext = { ...context, damage: () => undefined, ignore: () => undefined }
    for (const [index, entries] of rollout.abandoned.entries())
      yield trajectoryOf(entries, { rollout, file, context: quiet, branch: index + 2 })
  },
}

function isBareHeader(record: unknown): boolean {
  return isObject(record) && 'instructions' in record && typeof record.id === 'string' && !('type' in record)
}

/** OpenAI Responses items in a list look the same: a bare rollout also has the header. */
function isBareItem(record: unknown): boolean {
  return isObject(record) && !('payload' in record) && BARE_ITEMS.has(stringOf(record.type))
}

async function readRollout(file: LogFile, context: ReadContext): Promise<Rollout> {
  const metas: JsonObject[] = []
  const abandoned: (readonly CodexEntry[])[] = []
  let live: CodexEntry[] = []
  let isCut = false
  for await (const line of file.lines()) {
    if (line.kind === 'problem') {
      context.damage({ line: line.line, reason: line.reason })
      continue
    }
    const record = line.value
    const kind = isObject(record) ? stringOf(record.type) : ''
    const payload = isObject(record) && isObject(record.payload) ? record.payload : null
    if (!isObject(record)) context.damage({ line: line.line, reason: 'record is no object' })
    else if (isBareHeader(record)) metas.push(record)
    else if (isBareItem(record)) live.push({ kind: 'item', value: record, line: line.line })
    else if (record.record_type !== undefined) context.ignore(`record ${stringOf(record.record_type)}`)
    else if (payload === null) context.damage({ line: line.line, reason: `record of type ${kind} has no payload` })
    else if (kind === 'session_meta') metas.push(payload)
    else if (kind === 'response_item') {
      isCut = false
      live.push({ kind: 'item', value: payload, line: line.line })
    } else if (kind === 'compacted') live.push({ kind: 'compacted', value: payload, line: line.line })
    else {
      const event = stringOf(payload.type)
      context.ignore(kind === 'event_msg' ? `event ${event}` : WRAPPED.has(kind) ? kind : `unknown ${kind}`)
      if (kind === 'turn_context' || TURN_EVENTS.has(event))
        live.push({ kind: 'boundary', value: payload, line: line.line })
      if (event === 'turn_aborted' || event === 'error') isCut = true
      if (event !== 'thread_rolled_back') continue
      const kept = beforeLastTurns(live, Number(payload.num_turns))
      const lost = live.length - kept.length
      if (lost > 0 && context.allBranches) abandoned.push(live)
      else if (lost > 0) context.ignore('message of a dead branch', lost)
      live = kept
      isCut = false
    }
  }
  return { metas, live, abandoned, isCut }
}

/** What is left when the last turns, each from a person's message on, are taken back. */
function beforeLastTurns(entries: readonly CodexEntry[], count: number): CodexEntry[] {
  let end = entries.length
  for (let left = count; left > 0; left -= 1) {
    const start = entries.slice(0, end).findLastIndex(isUserEntry)
    if (start === -1) break
    end = start
  }
  return entries.slice(0, end)
}

function trajectoryOf(
  entries: readonly CodexEntry[],
  log: {
    readonly rollout: Rollout
    readonly file: LogFile
    readonly context: ReadContext
    /** 1: the live one. */
    readonly branch: number
  },
): Trajectory {
  const { file, rollout } = log
  const state = createCodexRun(file.name, log.context)
  for (const entry of entries) addCodexEntry(state, entry)
  endCall(state)
  const [meta] = rollout.metas
  const sessionId = idOf(meta?.id) ?? file.sha256.slice(0, 16)
  const parent = spawnedBy(meta)
  return builtTrajectory({
    format: 'codex',
    id: `codex/${sessionId}${log.branch === 1 ? '' : `~branch${log.branch}`}`,
    group: sessionGroup('codex', parent ?? rootSession(rollout.metas) ?? sessionId),
    system: systemOf(meta),
    ...state.run.finish(),
    truncated: log.branch === 1 && rollout.isCut,
    parent: parent === null ? null : `codex/${parent}`,
    source: { file: file.name },
  })
}

function spawnedBy(meta: JsonObject | undefined): string | null {
  const spawn = objectOf(objectOf(objectOf(meta?.source).subagent).thread_spawn)
  return idOf(spawn.parent_thread_id) ?? idOf(meta?.parent_thread_id)
}

/** A fork starts with its parent's history, session_meta records included: the oldest of them names the root. */
function rootSession(metas: readonly JsonObject[]): string | null {
  const oldest = metas.at(-1)
  return idOf(oldest?.forked_from_id) ?? idOf(oldest?.id)
}

/** Before base_instructions were logged, `instructions` held those of the user's project file: context, not the system. */
function systemOf(meta: JsonObject | undefined): string {
  const base = meta?.base_instructions
  return isObject(base) ? contentText(base.text) : contentText(base)
}
