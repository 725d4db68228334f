/**
 * What stands in each section of a view, as labelled blocks (DESIGN section 6). Pure.
 * Every text here is part of the representation: a change needs a new RECIPE_VERSION and new goldens
 * (tests/golden/view/*.txt). No interaction numbers: position and age reach the router through the evidence block.
 */
import { actionText, observationText, reasoningText } from '../trajectory/interaction-text.ts'
import type { Interaction, Trajectory, Turn } from '../trajectory/trajectory.ts'
import { takeStart } from './cut-text.ts'
import type { Block } from './section.ts'

/** Closes the state; q(c) is the hidden state of its last token. */
export const STATE_READOUT = '\n[next] From its history the agent now needs:'

/** Closes a target; h(i) is the hidden state of its last token. */
export const TARGET_READOUT = '\n[later] Of this interaction the agent still needs:'

/** Closes a view whose target stands before recent history and state. */
export const FIRST_READOUT = '\n[later] Of the first interaction above the agent still needs:'

/** A label is never truncated, so a name from a log may not be long. */
const MAX_ACTOR_CHARS = 64

export function headBlocks(trajectory: Trajectory): readonly Block[] {
  const blocks = [
    { label: '\n[system]\n', body: trajectory.system },
    { label: '\n[task]\n', body: trajectory.task },
  ]
  return blocks.filter((block) => block.body !== '')
}

/** One interaction, the same wherever it stands: in the target, recent and state sections. */
export function interactionBlocks(interaction: Interaction): readonly Block[] {
  const { actor } = interaction
  const header = actor === null ? '\n[interaction]' : `\n[interaction of ${takeStart(actor, MAX_ACTOR_CHARS)}]`
  const parts = [
    { name: 'Reasoning', body: reasoningText(interaction) },
    { name: 'Action', body: actionText(interaction) },
    { name: 'Observation', body: observationText(interaction) },
  ].filter((part) => part.body !== '')
  if (parts.length === 0) return [{ label: header, body: '' }]
  return parts.map((part, k) => ({ label: `${k === 0 ? header : ''}\n${part.name}:\n`, body: part.body }))
}

/**
 * The K_ctx interactions before the newest, with the turns that stand before, between and after them up to the newest:
 * a summary of all older history or the request they answer is there too.
 *   prefix  the trajectory at the checkpoint (`prefixAt`)
 */
export function recentBlocks(prefix: Trajectory, recentInteractions: number): readonly Block[] {
  const newest = prefix.interactions.at(-1)
  if (newest === undefined) return []
  const older = prefix.interactions.slice(0, -1)
  const recent = older.slice(Math.max(0, older.length - recentInteractions))
  const from = recent[0]?.index ?? newest.index
  const turns = prefix.turns.filter((turn) => turn.before >= from && turn.before <= newest.index)
  return inOrder(recent, turns)
}

/** One interaction of a window and the turns between it and the one before. */
export interface Step {
  readonly interaction: Interaction
  readonly turns: readonly Block[]
}

/**
 * The window of `recentBlocks` as one step for each interaction, the newest one last. It grows from K to 2 K
 * interactions before the newest, then K are left of it.
 *   prefix  the trajectory at the checkpoint
 */
export function growingSteps(prefix: Trajectory, recentInteractions: number): readonly Step[] {
  const { interactions, turns } = prefix
  const older = Math.max(0, interactions.length - 1)
  const period = recentInteractions + 1
  const from = period * Math.max(0, Math.floor((older - recentInteractions) / period))
  return interactions.slice(from).map((interaction, k) => {
    const after = k === 0 ? interaction.index - 1 : (interactions[from + k - 1]?.index ?? -1)
    return { interaction, turns: turnBlocks(turns, { after, upTo: interaction.index }) }
  })
}

/** The newest interaction and everything after it. Before the first interaction: all turns. */
export function stateBlocks(prefix: Trajectory): readonly Block[] {
  const newest = prefix.interactions.at(-1)
  return [...(newest === undefined ? [] : interactionBlocks(newest)), ...lastTurns(prefix)]
}

/** The turns after the newest interaction; all of them where there is none. */
export function lastTurns(prefix: Trajectory): readonly Block[] {
  const newest = prefix.interactions.at(-1)
  return turnBlocks(prefix.turns, { after: newest?.index ?? -1, upTo: Number.POSITIVE_INFINITY })
}

/** An interaction of the whole history, with the turns since the one before it. */
export function stepBlocks(trajectory: Trajectory, interaction: Interaction): readonly Block[] {
  const before = trajectory.interactions.findLast((other) => other.index < interaction.index)
  const turns = turnBlocks(trajectory.turns, { after: before?.index ?? -1, upTo: interaction.index })
  return [...turns, ...interactionBlocks(interaction)]
}

/** Interactions one after the other, without what stood between them. */
export function chosenBlocks(interactions: readonly Interaction[]): readonly Block[] {
  return interactions.flatMap(interactionBlocks)
}

function turnBlocks(
  turns: readonly Turn[],
  range: { readonly after: number; readonly upTo: number },
): readonly Block[] {
  return turns.filter((turn) => turn.before > range.after && turn.before <= range.upTo).map(turnBlock)
}

function inOrder(interactions: readonly Interaction[], turns: readonly Turn[]): readonly Block[] {
  const items = [
    ...turns.map((turn) => ({ at: turn.before, blocks: [turnBlock(turn)] as readonly Block[] })),
    ...interactions.map((interaction) => ({ at: interaction.index, blocks: interactionBlocks(interaction) })),
  ]
  // The sort is stable: turns stand before the interaction that they precede, in their own order.
  return items.sort((a, b) => a.at - b.at).flatMap((item) => item.blocks)
}

function turnBlock(turn: Turn): Block {
  return { label: `\n[${turn.kind}]\n`, body: turn.text }
}
