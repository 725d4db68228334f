/**
 * The canonical trajectory of a partitioned history: what views, evidence and the router read. Importers take exactly
 * this path for logs of these formats, so training and serving see the same text. Pure.
 */
import type { Interaction, Trajectory, Turn } from '../trajectory/trajectory.ts'
import { TRAJECTORY_SCHEMA_VERSION } from '../trajectory/trajectory.ts'
import type { History } from './history.ts'
import type { Draft, DraftInteraction } from './partition.ts'
import type { Segment } from './segment.ts'
import { systemText } from './system-text.ts'
import { toWellFormed } from './well-formed.ts'

/** Domain of histories that come from a caller rather than from an imported log. */
export const ONLINE_DOMAIN = 'online'

/** @param options.file what SourceRef.file says; messages are its 0-based indices */
export function buildTrajectory(
  drafts: readonly Draft[],
  options: { readonly history: History; readonly id: string; readonly file: string },
): Trajectory {
  const { history, id, file } = options
  const headEnd = drafts.findIndex((draft) => draft.kind !== 'turn')
  const head = headEnd === -1 ? drafts : drafts.slice(0, headEnd)
  const textOf = (what: 'system' | 'task'): readonly string[] =>
    head.flatMap((draft) => (draft.kind === 'turn' && draft.what === what ? [textOfTurn(draft.segments)] : []))
  return {
    schemaVersion: TRAJECTORY_SCHEMA_VERSION,
    id,
    group: id,
    domain: ONLINE_DOMAIN,
    format: history.format,
    system: joinParagraphs([toWellFormed(systemText(history.system?.value)), ...textOf('system')]),
    task: joinParagraphs(textOf('task')),
    interactions: drafts
      .filter((draft) => draft.kind === 'interaction')
      .map((draft) => buildInteraction(draft, { history, file })),
    turns: drafts
      .filter((draft, number) => number >= head.length || (draft.kind === 'turn' && draft.what === 'opaque'))
      .flatMap((draft) => buildTurn(draft, file)),
    truncated: false,
    parent: null,
    source: { file },
  }
}

function buildInteraction(
  draft: DraftInteraction,
  options: { readonly history: History; readonly file: string },
): Interaction {
  const { role, name } = options.history.messages[draft.message]?.value ?? {}
  return {
    index: draft.index,
    // Only a message names who speaks: the name of a call item is its tool's.
    actor: typeof role === 'string' && typeof name === 'string' ? name : null,
    reasoning: joinLines(draft.segments, 'reasoning'),
    text: joinLines(draft.segments, 'text'),
    toolCalls: draft.calls.map(({ call }) => ({
      id: call.id,
      name: toWellFormed(call.name),
      arguments: toWellFormed(call.arguments),
    })),
    observations: draft.results.map((result) => ({
      callId: result.id,
      content: toWellFormed(result.content),
      isError: result.isError,
    })),
    source: { file: options.file, index: draft.message },
  }
}

function buildTurn(draft: Draft, file: string): readonly Turn[] {
  switch (draft.kind) {
    case 'interaction':
      return []
    case 'summary': {
      const source = { file, index: draft.message }
      return [{ before: draft.before, kind: 'summary', text: draft.content, source }]
    }
    case 'turn': {
      const source = { file, index: draft.message }
      const kind = draft.what === 'user' || draft.what === 'task' ? 'user' : 'context'
      return [{ before: draft.before, kind, text: textOfTurn(draft.segments), source }]
    }
    default:
      return draft satisfies never
  }
}

/** Visible text of an interaction: opaque blocks stand as their description, so that the text says something was there. */
function joinLines(segments: readonly Segment[], kind: 'reasoning' | 'text'): string {
  const texts = segments.flatMap((segment) => {
    if (segment.kind === 'opaque') return kind === 'text' ? [segment.text] : []
    return segment.kind === kind ? [segment.text] : []
  })
  return toWellFormed(texts.filter((text) => text !== '').join('\n'))
}

function textOfTurn(segments: readonly Segment[]): string {
  const texts = segments.map((segment) => {
    if (segment.kind === 'result') return segment.content
    return segment.kind === 'call' ? `${segment.name}(${segment.arguments})` : segment.text
  })
  return toWellFormed(texts.join('\n'))
}

function joinParagraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}
