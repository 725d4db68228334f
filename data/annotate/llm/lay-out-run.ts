/**
 * Decides once per run how long its parts may be, so that every request of the run shows the same text for the same
 * interaction: the common beginning of its prompts is equal byte for byte, which providers cache. Pure.
 */
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { shareBudget } from '../../../src/view/share-budget.ts'
import { type Block, type BlockWriter, createBlockWriter } from './blocks.ts'
import { type CountTokens, clipText } from './clip-text.ts'

export interface RunLayout {
  readonly writer: BlockWriter
  /** System prompt and task. */
  readonly head: Block
  /** Interactions and turns in order of the run. */
  readonly parts: readonly RunPart[]
  /** Of the run's text, parts of which are clipped: what a target in more detail may take; 0 if nothing is clipped. */
  readonly detailTokens: number
}

export interface RunPart {
  /** Interaction n, or a turn that stands before interaction n. */
  readonly kind: 'interaction' | 'turn'
  readonly at: number
  readonly block: Block
  /** The same at greater length, for the requests that judge it; null where `block` shows all there is room for. */
  readonly detail: Block | null
}

/** A target in detail may take this part of the room for details, so that a call holds at least as many. */
const DETAILS_PER_CALL = 4
/** Of the prompt. Assumptions: the system prompt matters little for labels; the rest is history. */
const SYSTEM_SHARE = 0.05
const TASK_SHARE = 0.1
/** Where history must be clipped, targets are shown in more detail with this share. */
const DETAIL_SHARE = 0.3
/** A part clipped below this says nothing: the run is too long for the model. Assumption. */
const MIN_PART_TOKENS = 48
/** Target list, state line and section borders of one request. */
export const FRAME_TOKENS = 600

/**
 * @param budget tokens of a prompt without its instructions
 * @returns null when the run has so many parts that none would keep MIN_PART_TOKENS
 */
export function layOutRun(trajectory: Trajectory, budget: number, count: CountTokens): RunLayout | null {
  const writer = createBlockWriter(trajectory, count)
  const head = writer.section(
    'task',
    [
      trajectory.system === '' ? '' : `system prompt:\n${clipText(trajectory.system, budget * SYSTEM_SHARE, count)}`,
      `task:\n${clipText(trajectory.task, budget * TASK_SHARE, count)}`,
    ]
      .filter((part) => part !== '')
      .join('\n'),
  )
  const sources = inOrder(trajectory)
  const whole = sources.map((source) => source.write(writer, Number.POSITIVE_INFINITY))
  const wanted = whole.map((block) => block.tokens)
  const room = budget - head.tokens - FRAME_TOKENS
  const fits = wanted.reduce((sum, tokens) => sum + tokens, 0) <= room
  const detailTokens = fits ? 0 : Math.floor(room * DETAIL_SHARE)
  const shares = shareBudget(wanted, Math.max(0, room - detailTokens))
  const least = Math.min(...sources.map((_, k) => ((shares[k] ?? 0) < (wanted[k] ?? 0) ? (shares[k] ?? 0) : Infinity)))
  if (least < MIN_PART_TOKENS) return null
  const detailLimit = Math.floor(detailTokens / DETAILS_PER_CALL)
  const parts = sources.map((source, k): RunPart => {
    const share = shares[k] ?? 0
    const { kind, at } = source
    const full = whole[k]
    if (full !== undefined && full.tokens <= share) return { kind, at, block: full, detail: null }
    const detail = kind === 'interaction' && detailLimit > share ? source.write(writer, detailLimit) : null
    return { kind, at, block: source.write(writer, share), detail }
  })
  return { writer, head, parts, detailTokens }
}

interface PartSource {
  readonly kind: RunPart['kind']
  readonly at: number
  readonly write: (writer: BlockWriter, limit: number) => Block
}

/** A turn stands before the interaction it precedes. */
function inOrder(trajectory: Trajectory): readonly PartSource[] {
  const interactions = trajectory.interactions.map(
    (interaction): PartSource => ({
      kind: 'interaction',
      at: interaction.index,
      write: (writer, limit) => writer.interaction(interaction, limit),
    }),
  )
  const turns = trajectory.turns.map(
    (turn): PartSource => ({ kind: 'turn', at: turn.before, write: (writer, limit) => writer.turn(turn, limit) }),
  )
  const rank = (source: PartSource): number => 2 * source.at + (source.kind === 'turn' ? 0 : 1)
  return [...turns, ...interactions].sort((a, b) => rank(a) - rank(b))
}
