/**
 * Claude Code session JSONL (1.x and 2.x) -> trajectories: the session itself, then each sub-agent it holds.
 */
import { AppError } from '../../src/errors.ts'
import {
  type SourceRef,
  type ToolCall,
  TRAJECTORY_SCHEMA_VERSION,
  type Trajectory,
} from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { indexByUuid, orderConversation } from './claude-code-chain.ts'
import { contentBlocks, isSynthetic, readSession, resultBlocks, type SessionLine } from './claude-code-session.ts'
import { turnsOf } from './claude-code-turns.ts'
import { contentText } from './content-text.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export const claudeCode: Importer = {
  name: 'claude-code',
  summary: 'Claude Code session JSONL (~/.claude/projects/*/*.jsonl)',
  detect({ records }) {
    const isMessage = (record: unknown): boolean =>
      isObject(record) &&
      (record.type === 'user' || record.type === 'assistant') &&
      'sessionId' in record &&
      ('uuid' in record || 'parentUuid' in record) &&
      'message' in record
    const count = records.filter(isMessage).length
    return count === 0
      ? null
      : { because: `${count} of the first records are messages with sessionId, uuid and parentUuid` }
  },
  async *read(file, context) {
    const session = await readSession(file.lines(), context)
    if (session.every((line) => line.kind === 'link'))
      throw new AppError(
        'log-malformed',
        `${file.name} is no Claude Code session: it holds no user or assistant message`,
      )
    const byUuid = indexByUuid(session)
    for (const part of partsOf(session, byUuid, file.sha256.slice(0, 16))) {
      const { live, branches, deadCount, damage } = orderConversation(part.lines, byUuid)
      for (const entry of damage) context.damage(entry)
      yield buildRun(part, live, { file, report: context, branch: 1 })
      if (deadCount > 0 && !context.allBranches) context.ignore('message of a dead branch', deadCount)
      if (!context.allBranches) continue
      for (const [index, branch] of branches().entries())
        yield buildRun(part, branch, { file, report: withoutRepeats(context, live), branch: index + 2 })
    }
  },
}

/** What is wrong in the shared beginning of a branch has been reported with the live history. */
function withoutRepeats(context: ReadContext, live: readonly SessionLine[]): ReadContext {
  const known = new Set(live.map((line) => line.line))
  return {
    allBranches: context.allBranches,
    ignore: () => undefined,
    damage: (entry) => {
      if (entry.line === undefined || !known.has(entry.line)) context.damage(entry)
    },
  }
}

function buildRun(
  part: SessionPart,
  lines: readonly SessionLine[],
  about: { readonly file: LogFile; readonly report: ReadContext; readonly branch: number },
): Trajectory {
  const sessionRun = `claude-code/${part.sessionId}`
  const own = part.agent === null ? sessionRun : `${sessionRun}/agent-${part.agent}`
  const run = createRunBuilder()
  fillRun(run, lines, about)
  const last = lines.findLast((line) => line.kind === 'assistant')
  return {
    schemaVersion: TRAJECTORY_SCHEMA_VERSION,
    id: about.branch === 1 ? own : `${own}~branch${about.branch}`,
    group: sessionGroup('claude-code', part.sessionId),
    domain: 'claude-code',
    format: 'claude-code',
    system: '',
    ...run.finish(),
    truncated: objectOf(last?.value.message).stop_reason === 'max_tokens',
    parent: part.agent === null ? null : sessionRun,
    source: { file: about.file.name },
  }
}

interface SessionPart {
  readonly sessionId: string
  /** Name of a sub-agent: its agentId, else the uuid of its first line; null for the session itself. */
  readonly agent: string | null
  readonly lines: readonly SessionLine[]
}

/**
 * One part per session id, then one per sub-agent, in the order of their first message.
 * @param nameless session id of lines that carry none
 */
function partsOf(
  lines: readonly SessionLine[],
  byUuid: ReadonlyMap<string, SessionLine>,
  nameless: string,
): readonly SessionPart[] {
  const parts = new Map<string, { sessionId: string; agent: string | null; lines: SessionLine[] }>()
  for (const line of lines) {
    const agent = line.isSidechain ? (line.agentId ?? rootOf(line, byUuid).uuid) : null
    const sessionId = line.sessionId === '' ? nameless : line.sessionId
    const key = JSON.stringify([sessionId, agent])
    const part = parts.get(key)
    if (part === undefined) parts.set(key, { sessionId, agent, lines: [line] })
    else part.lines.push(line)
  }
  const found = [...parts.values()].filter((part) => part.lines.some((line) => line.kind !== 'link'))
  return [...found.filter((part) => part.agent === null), ...found.filter((part) => part.agent !== null)]
}

/** First line of the sidechain that a line belongs to. */
function rootOf(line: SessionLine, byUuid: ReadonlyMap<string, SessionLine>): SessionLine {
  let root = line
  const seen = new Set([root])
  for (;;) {
    const parent = root.parentUuid === null ? undefined : byUuid.get(root.parentUuid)
    if (parent === undefined || !parent.isSidechain || seen.has(parent)) return root
    seen.add(parent)
    root = parent
  }
}

function fillRun(
  run: RunBuilder,
  lines: readonly SessionLine[],
  log: { readonly file: LogFile; readonly report: ReadContext },
): void {
  const indexOf = new Map<string, number>()
  const blocksOf = new Map<string, Set<string>>()
  let lastCall: number | undefined
  for (const line of lines) {
    const source = { file: log.file.name, line: line.line }
    if (line.kind === 'assistant') {
      if (isSynthetic(line)) {
        log.report.ignore('synthetic message')
        continue
      }
      const seen = blocksOf.get(line.messageId) ?? new Set<string>()
      blocksOf.set(line.messageId, seen)
      const parts = modelParts(line, seen)
      const known = indexOf.get(line.messageId)
      if (known === undefined) indexOf.set(line.messageId, run.call({ ...parts, source }))
      else run.extend(known, parts)
      lastCall = indexOf.get(line.messageId)
    } else {
      for (const block of resultBlocks(line)) addResult(run, block, { line, source, of: lastCall, report: log.report })
      for (const turn of turnsOf(line)) run.turn(turn.kind, turn.text, source)
    }
  }
}

function addResult(
  run: RunBuilder,
  block: JsonObject,
  place: {
    readonly line: SessionLine
    readonly source: SourceRef
    /** Model call that the line belongs to. */
    readonly of: number | undefined
    readonly report: ReadContext
  },
): void {
  const id = idOf(block.tool_use_id)
  const result = {
    callId: id === 'REDACTED' ? null : id,
    name: null,
    content: contentText(block.content),
    isError: block.is_error === true,
  }
  const linked = place.of === undefined ? 'orphan' : run.result(result, place.of)
  const pairing = linked === 'orphan' ? run.result(result) : linked
  if (pairing === 'paired') return
  place.report.damage({ line: place.line.line, reason: `${pairing} result of call ${id ?? '(no id)'}` })
  if (pairing === 'orphan') run.turn('context', result.content, place.source)
}

/** New blocks of one line; a block that an earlier line of the same model call holds already is a rewrite of it. */
function modelParts(
  line: SessionLine,
  seen: Set<string>,
): { readonly reasoning: string; readonly text: string; readonly toolCalls: readonly ToolCall[] } {
  const { content } = objectOf(line.value.message)
  if (typeof content === 'string') return { reasoning: '', text: content, toolCalls: [] }
  const blocks = contentBlocks(line).filter((block) => {
    const key =
      block.type === 'tool_use' && idOf(block.id) !== null && block.id !== 'REDACTED'
        ? String(block.id)
        : JSON.stringify(block)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
  return {
    reasoning: joined(blocks, 'thinking'),
    text: joined(blocks, 'text'),
    toolCalls: blocks
      .filter((block) => block.type === 'tool_use' || block.type === 'server_tool_use')
      .map((block) => ({
        id: block.id === 'REDACTED' ? null : idOf(block.id),
        name: stringOf(block.name),
        arguments: textOf(block.input),
      })),
  }
}

function joined(blocks: readonly JsonObject[], kind: 'thinking' | 'text'): string {
  return blocks
    .filter((block) => block.type === kind)
    .map((block) => stringOf(block[kind]))
    .filter((text) => text !== '')
    .join('\n')
}
