/**
 * A Claude Code session file as records with their links, and the order of its live conversation. Knows nothing of
 * trajectories. Sources: formats.md "Claude Code JSONL", trajectories/long/README.md.
 */
import type { Damage, ReadContext } from './importer.ts'
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
  const session: SessionLine[] = []
  for await (const line of lines) {
    const read = readSessionLine(line, report)
    if (read !== null) session.push(read)
  }
  return session
}

/** The same for lines that are in memory; what is damaged is left out. */
export function readSessionSync(lines: Iterable<JsonLine>): readonly SessionLine[] {
  const quiet: Report = { damage: () => undefined, ignore: () => undefined }
  return [...lines].flatMap((line) => readSessionLine(line, quiet) ?? [])
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
  return {
    line: line.line,
    uuid,
    parentUuid: idOf(value.parentUuid) ?? idOf(value.logicalParentUuid),
    sessionId: stringOf(value.sessionId),
    agentId: idOf(value.agentId),
    isSidechain: value.isSidechain === true,
    timestamp: stringOf(value.timestamp),
    kind: queued !== null ? 'user' : isMessage && problem === null ? (value.type as 'user' | 'assistant') : 'link',
    messageId: idOf(objectOf(value.message).id) ?? uuid,
    value: queued ?? value,
  }
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

export interface LiveChain {
  /** Ancestors of the newest leaf and what belongs to their model calls, in conversation order. */
  readonly lines: readonly SessionLine[]
  readonly damage: readonly Damage[]
}

/**
 * The live conversation among `own` (the lines of one session or one sub-agent): the parentUuid chain from the newest
 * leaf; dead branches of a rewind are left out. All lines of a model call (same message id) and all their results stay
 * together, wherever parallel calls put them in the tree. A file whose messages are not linked at all (early 1.x exports)
 * keeps the order of the file; a missing parent is bridged by the line before and reported.
 */
export function liveChain(own: readonly SessionLine[], all: readonly SessionLine[]): LiveChain {
  const byUuid = new Map<string, SessionLine>()
  for (const line of all) if (!byUuid.has(line.uuid) || line.kind !== 'link') byUuid.set(line.uuid, line)
  const isLinked = own.some((line) => line.kind !== 'link' && line.parentUuid !== null && byUuid.has(line.parentUuid))
  if (!isLinked) return { lines: withWholeCalls(own, own, byUuid), damage: missingParents(own, byUuid) }
  const damage: Damage[] = []
  const chain: SessionLine[] = []
  const seen = new Set<string>()
  let current = newestLeaf(own, byUuid)
  if (current === undefined)
    return {
      lines: withWholeCalls(own, own, byUuid),
      damage: [{ line: own[0]?.line ?? 1, reason: 'parent links run in a circle: the order of the file is kept' }],
    }
  while (current !== undefined && !seen.has(current.uuid)) {
    seen.add(current.uuid)
    chain.push(current)
    current = parentOf(current, { own, byUuid, damage })
  }
  return { lines: withWholeCalls(chain.reverse(), own, byUuid), damage }
}

function missingParents(own: readonly SessionLine[], byUuid: ReadonlyMap<string, SessionLine>): readonly Damage[] {
  return own
    .filter((line) => line.parentUuid !== null && !byUuid.has(line.parentUuid))
    .map((line) => ({ line: line.line, reason: `parent ${line.parentUuid} is not in the file: the record is kept` }))
}

function parentOf(
  line: SessionLine,
  tree: {
    readonly own: readonly SessionLine[]
    readonly byUuid: ReadonlyMap<string, SessionLine>
    readonly damage: Damage[]
  },
): SessionLine | undefined {
  const isCompaction = line.value.subtype === 'compact_boundary' || line.value.isCompactSummary === true
  if (line.parentUuid === null && !isCompaction) return undefined
  const parent = line.parentUuid === null ? undefined : tree.byUuid.get(line.parentUuid)
  if (parent !== undefined) return parent
  const before = tree.own.findLast((candidate) => candidate.line < line.line)
  if (line.parentUuid !== null && !isCompaction)
    tree.damage.push({
      line: line.line,
      reason: `parent ${line.parentUuid} is not in the file: ${before === undefined ? 'the run starts here' : `continued with line ${before.line}`}`,
    })
  return before
}

/** The newest message (by time, then by line) from which no other message descends. */
function newestLeaf(own: readonly SessionLine[], byUuid: ReadonlyMap<string, SessionLine>): SessionLine | undefined {
  const inner = new Set<string>()
  for (const line of own) {
    if (line.kind === 'link') continue
    let parent = line.parentUuid
    while (parent !== null && !inner.has(parent)) {
      inner.add(parent)
      parent = byUuid.get(parent)?.parentUuid ?? null
    }
  }
  let newest: SessionLine | undefined
  for (const line of own) {
    if (line.kind === 'link' || inner.has(line.uuid)) continue
    if (newest === undefined || line.timestamp >= newest.timestamp || newest.timestamp === '') newest = line
  }
  return newest
}

/** Replaces the first line of each model call by all its lines, then all lines that hold its results. */
function withWholeCalls(
  chain: readonly SessionLine[],
  own: readonly SessionLine[],
  byUuid: ReadonlyMap<string, SessionLine>,
): readonly SessionLine[] {
  const linesOf = new Map<string, SessionLine[]>()
  const answersOf = new Map<string, SessionLine[]>()
  const callers = new Map<string, string>()
  for (const line of own) {
    if (line.kind === 'assistant') {
      pushTo(linesOf, line.messageId, line)
      for (const id of callIds(line)) callers.set(id, line.messageId)
    } else if (line.kind === 'user') {
      const owner = ownerOf(line, byUuid, callers)
      if (owner !== null) pushTo(answersOf, owner, line)
    }
  }
  const emitted = new Set<SessionLine>()
  const ordered: SessionLine[] = []
  for (const line of chain) {
    if (emitted.has(line) || line.kind === 'link') continue
    const whole =
      line.kind === 'assistant'
        ? [...(linesOf.get(line.messageId) ?? [line]), ...(answersOf.get(line.messageId) ?? [])]
        : [line]
    for (const part of whole) {
      if (emitted.has(part)) continue
      emitted.add(part)
      ordered.push(part)
    }
  }
  return ordered
}

/** Model call that a result line answers: the one it is linked to, else the latest one that made a call of its id. */
function ownerOf(
  line: SessionLine,
  byUuid: ReadonlyMap<string, SessionLine>,
  callers: ReadonlyMap<string, string>,
): string | null {
  const results = resultBlocks(line)
  if (results.length === 0) return null
  let above = byUuid.get(idOf(line.value.sourceToolAssistantUUID) ?? line.parentUuid ?? '')
  const seen = new Set<SessionLine>()
  while (above !== undefined && above.kind !== 'assistant' && !seen.has(above)) {
    seen.add(above)
    above = above.parentUuid === null ? undefined : byUuid.get(above.parentUuid)
  }
  return above?.messageId ?? callers.get(stringOf(results[0]?.tool_use_id)) ?? null
}

export function contentBlocks(line: SessionLine): readonly JsonObject[] {
  return arrayOf(objectOf(line.value.message).content).filter(isObject)
}

export function resultBlocks(line: SessionLine): readonly JsonObject[] {
  return line.kind === 'user' ? contentBlocks(line).filter((block) => block.type === 'tool_result') : []
}

function callIds(line: SessionLine): readonly string[] {
  return contentBlocks(line)
    .filter((block) => block.type === 'tool_use')
    .map((block) => stringOf(block.id))
}

function pushTo(map: Map<string, SessionLine[]>, key: string, line: SessionLine): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [line])
  else list.push(line)
}

/** Lines that the program wrote in place of a failed model call: API errors, cancelled requests. */
export function isSynthetic(line: SessionLine): boolean {
  return objectOf(line.value.message).model === '<synthetic>' || line.value.isApiErrorMessage === true
}
