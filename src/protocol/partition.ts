/**
 * Walks a message list once and gives every block to exactly one owner: an interaction, a user turn, a pinned item or a
 * summary (DESIGN section 5). Pure. Eligibility and the canonical trajectory are derived from this by split-history.ts.
 */
import { recogniseSummary, type SummaryMark } from '../compaction/summary-message.ts'
import { FORMATS } from './formats.ts'
import type { History, Part } from './history.ts'
import { type OpenCall, pairResult } from './open-calls.ts'
import type { ProviderFormat } from './provider-format.ts'
import { readSegments } from './read-segments.ts'
import type { ResultSegment, Segment } from './segment.ts'

export interface DraftInteraction {
  readonly kind: 'interaction'
  readonly owner: number
  readonly index: number
  /** Its first message. */
  readonly message: number
  /** Number of the run of assistant messages that it belongs to; only the newest may be in flight. */
  readonly batch: number
  readonly segments: Segment[]
  /** It holds something that no summary can stand for, or that must stay beside what it holds. */
  opaque: boolean
  readonly calls: OpenCall[]
  readonly results: ResultSegment[]
}

export type Draft =
  | DraftInteraction
  | {
      readonly kind: 'turn'
      readonly owner: number
      /** Canonical index of the interaction that comes next. */
      readonly before: number
      readonly message: number
      readonly segments: readonly Segment[]
      readonly what: 'task' | 'user' | 'system' | 'opaque'
    }
  | {
      readonly kind: 'summary'
      readonly owner: number
      readonly before: number
      readonly message: number
      readonly mark: SummaryMark
      readonly content: string
    }

export interface Partition {
  readonly drafts: readonly Draft[]
  /** Per message, per block (one entry for a message without block list): the owner, an index into `drafts`. */
  readonly owners: readonly (readonly number[])[]
  /** The batch after which nothing but results stands, or null: its unanswered calls are in flight. */
  readonly openBatch: number | null
}

interface Walk {
  readonly history: History
  readonly format: ProviderFormat
  readonly drafts: Draft[]
  readonly owners: number[][]
  /** Calls of the newest batch. */
  calls: OpenCall[]
  /** Where results may come late: the calls of earlier batches, by id those of the newest batch that used it. */
  readonly earlier: Map<string, OpenCall[]>
  batch: number
  /** The message before is the assistant's, but for compactions between. */
  inRun: boolean
  newest: DraftInteraction | null
  /** Owner of the newest compaction, -1 before the first. */
  compaction: number
  /** The list goes on from what the provider holds. */
  readonly stored: boolean
  nextIndex: number
  /** A turn of the user has followed the newest batch. */
  turnFollowed: boolean
  headOpen: boolean
}

export function partitionHistory(history: History): Partition {
  const walk: Walk = {
    history,
    format: FORMATS[history.format],
    drafts: [],
    owners: history.messages.map((message) => new Array<number>(Math.max(1, message.blocks?.length ?? 1)).fill(-1)),
    calls: [],
    earlier: new Map(),
    batch: -1,
    inRun: false,
    newest: null,
    compaction: -1,
    stored: FORMATS[history.format].continuesStored?.(history.request) === true,
    nextIndex: 0,
    turnFollowed: true,
    headOpen: true,
  }
  history.messages.forEach((message, number) => {
    const segments = readSegments(history, message, number)
    if (message.role === 'assistant') {
      walkAssistant(walk, number, segments)
      return
    }
    if (message.role === 'system' || message.role === 'opaque') {
      addTurn(walk, { number, segments, what: message.role })
      // What it stands for is not known: it may belong to the model call that it touches.
      if (message.role === 'opaque' && walk.inRun && walk.newest !== null) walk.newest.opaque = true
    } else walkUser(walk, number, segments)
    walk.inRun = false
  })
  return { drafts: walk.drafts, owners: walk.owners, openBatch: walk.turnFollowed ? null : walk.batch }
}

function walkAssistant(walk: Walk, number: number, segments: readonly Segment[]): void {
  const pinned = segments.filter(isCompaction)
  if (pinned.length > 0) addTurn(walk, { number, segments: pinned, what: 'opaque' })
  if (pinned.length > 0 && pinned.length === segments.length) return
  if (!walk.inRun || walk.format.batch === 'message') startBatch(walk)
  const draft = openInteraction(walk, number)
  const calls = segments
    .filter((segment) => segment.kind === 'call')
    .map((call): OpenCall => ({ owner: draft.owner, call, answered: false }))
  walk.calls.push(...calls)
  draft.calls.push(...calls)
  draft.segments.push(...segments.filter((segment) => !isCompaction(segment)))
  if (segments.some((segment) => segment.kind === 'opaque')) draft.opaque = true
  walk.inRun = true
  walk.turnFollowed = false
  walk.headOpen = false
  claim(walk, { number, owner: draft.owner, blocks: null })
  // Tools that the provider runs itself answer inside the assistant message.
  for (const segment of segments) if (segment.kind === 'result') walkResult(walk, number, segment)
}

function startBatch(walk: Walk): void {
  if (walk.format.lateResults) {
    const byId = new Map<string, OpenCall[]>()
    for (const open of walk.calls)
      if (open.call.id !== null) byId.set(open.call.id, [...(byId.get(open.call.id) ?? []), open])
    for (const [id, calls] of byId) walk.earlier.set(id, calls)
  }
  walk.calls = []
  walk.batch++
}

/** The interaction of the message before where both are one model call, else a new one. */
function openInteraction(walk: Walk, number: number): DraftInteraction {
  if (walk.format.modelCall === 'run' && walk.inRun && walk.newest !== null) {
    pinAcrossCompaction(walk, walk.newest)
    return walk.newest
  }
  const draft: DraftInteraction = {
    kind: 'interaction',
    owner: walk.drafts.length,
    index: walk.nextIndex++,
    message: number,
    batch: walk.batch,
    segments: [],
    opaque: walk.history.messages[number - 1]?.role === 'opaque' || walk.stored,
    calls: [],
    results: [],
  }
  walk.drafts.push(draft)
  walk.newest = draft
  return draft
}

/** A summary stands where its span began, and what stands before a compaction the provider may drop. */
function pinAcrossCompaction(walk: Walk, draft: DraftInteraction): void {
  if (walk.compaction > draft.owner) draft.opaque = true
}

function walkUser(walk: Walk, number: number, segments: readonly Segment[]): void {
  const summary = recogniseSummary(segments)
  if (summary !== null && summary.start >= walk.nextIndex) {
    const owner = walk.drafts.length
    const { id, start, end, content } = summary
    walk.drafts.push({ kind: 'summary', owner, before: end, message: number, mark: { id, start, end }, content })
    walk.nextIndex = end
    walk.turnFollowed = true
    walk.headOpen = false
    claim(walk, { number, owner, blocks: null })
    return
  }
  const others = segments.filter((segment) => segment.kind !== 'result' && !isCompaction(segment))
  const isTurn = !keepBeside(walk, number, others)
  const results = segments.filter((segment) => segment.kind === 'result')
  const orphans = results.filter((result) => !walkResult(walk, number, result))
  const pinned = [...orphans, ...segments.filter(isCompaction)]
  if (pinned.length > 0) addTurn(walk, { number, segments: pinned, what: 'opaque' })
  if (isTurn && (others.length > 0 || segments.length === 0)) {
    addTurn(walk, { number, segments: others, what: walk.headOpen ? 'task' : 'user' })
    walk.turnFollowed = true
  }
}

/**
 * A message of role tool is no turn of the user: what it holds beside results (the answer to an approval request, AI SDK)
 * belongs to the model call that waits for them, which then stays as it is.
 * @returns false for what is a turn
 */
function keepBeside(walk: Walk, number: number, others: readonly Segment[]): boolean {
  const { role, blocks } = walk.history.messages[number] ?? {}
  if (role !== 'tool') return false
  if (walk.newest === null || walk.calls.length === 0) {
    if (others.length > 0 || blocks?.length === 0) addTurn(walk, { number, segments: others, what: 'opaque' })
    return true
  }
  if (others.length > 0 || blocks?.length === 0) {
    if (others.length > 0) walk.newest.opaque = true
    walk.newest.segments.push(...others)
    claim(walk, { number, owner: walk.newest.owner, blocks: blocksOf(others) })
  }
  return true
}

/** @returns false for a result that answers nothing */
function walkResult(walk: Walk, number: number, result: ResultSegment): boolean {
  const inBatch = pairResult(walk.calls, result)
  const late = inBatch.kind === 'orphan' ? (walk.earlier.get(result.id ?? '') ?? []) : []
  const pairing = late.length === 0 ? inBatch : pairResult(late, result)
  if (pairing.kind === 'orphan') return false
  const draft = walk.drafts[pairing.call.owner]
  if (draft?.kind !== 'interaction') return false
  // A late result may be all that keeps two model calls apart, so it stays where it is.
  if (late.length > 0) draft.opaque = true
  pinAcrossCompaction(walk, draft)
  // A second result of one call stays with its interaction, but it is no observation: the first one counts.
  if (pairing.kind === 'answers') draft.results.push(result)
  claim(walk, { number, owner: draft.owner, blocks: blocksOf([result]) })
  return true
}

function addTurn(
  walk: Walk,
  turn: {
    readonly number: number
    readonly segments: readonly Segment[]
    readonly what: 'task' | 'user' | 'system' | 'opaque'
  },
): void {
  const owner = walk.drafts.length
  const { number, segments, what } = turn
  walk.drafts.push({ kind: 'turn', owner, before: walk.nextIndex, message: number, segments, what })
  if (segments.some(isCompaction)) walk.compaction = owner
  claim(walk, { number, owner, blocks: blocksOf(segments) })
}

/** The unclaimed blocks among `blocks` (null: of the whole message) become the owner's. */
function claim(
  walk: Walk,
  share: { readonly number: number; readonly owner: number; readonly blocks: readonly number[] | null },
): void {
  const owners = walk.owners[share.number] ?? []
  for (let block = 0; block < owners.length; block++) {
    if (owners[block] === -1 && (share.blocks === null || share.blocks.includes(block))) owners[block] = share.owner
  }
}

/** Null when the segments are the message itself rather than blocks of its content list. */
function blocksOf(segments: readonly Segment[]): readonly number[] | null {
  const blocks = segments.map((segment) => segment.block).filter((block) => block !== null)
  return blocks.length === 0 ? null : blocks
}

/** A provider's own compaction must stay where it is, as it is (reference/protocol.md, A13). */
function isCompaction(segment: Segment): boolean {
  return segment.kind === 'opaque' && segment.type === 'compaction'
}

/** What each owner owns, in order: whole messages, or half-open block ranges. */
export function partsByOwner(partition: Partition): readonly (readonly Part[])[] {
  const parts: Part[][] = partition.drafts.map(() => [])
  partition.owners.forEach((row, message) => {
    for (let block = 0; block < row.length; ) {
      const owner = row[block] ?? -1
      let end = block + 1
      while (row[end] === owner) end++
      parts[owner]?.push(end - block === row.length ? { message } : { message, blocks: [block, end] })
      block = end
    }
  })
  return parts
}
