/**
 * A run as the blocks of text that requests are made of. A block begins with `<` and ends with a line break, so that no
 * token reaches over a border: the tokens of a request are the sum of those of its blocks. Pure.
 *
 * History text stands in blocks as it is, never escaped, since quotes must be literal. What marks the borders is drawn from
 * a hash of the run: text inside it cannot close its own block.
 */
import { createHash } from 'node:crypto'
import { actionText, observationText, reasoningText } from '../../../src/trajectory/interaction-text.ts'
import type { Interaction, Trajectory, Turn } from '../../../src/trajectory/trajectory.ts'
import { shareBudget } from '../../../src/view/share-budget.ts'
import { type CountTokens, clipText } from './clip-text.ts'

export interface Block {
  readonly text: string
  readonly tokens: number
}

/** Renders the parts of one run, all with the same mark. */
export interface BlockWriter {
  readonly count: CountTokens
  /** Any lines between the two marks. */
  section(name: string, body: string): Block
  /** The opening and the closing line of a section that holds blocks. */
  borders(name: string): { readonly open: Block; readonly close: Block }
  /** @param limit tokens of the whole block; its parts share what it has */
  interaction(interaction: Interaction, limit: number): Block
  turn(turn: Turn, limit: number): Block
}

/** Hex digits of the mark: beyond what the text of a run could hit by chance. */
const MARK_DIGITS = 8

export function createBlockWriter(trajectory: Trajectory, count: CountTokens): BlockWriter {
  const mark = markOf(trajectory)
  const block = (text: string): Block => ({ text, tokens: count(text) })
  const open = (name: string): string => `<${name} #${mark}>\n`
  const close = (name: string): string => `</${name} #${mark}>\n`
  const section = (name: string, body: string): Block => block(`${open(name)}${body}\n${close(name)}`)

  const limited = (name: string, parts: readonly (readonly [label: string, text: string])[], limit: number): Block => {
    const present = parts.filter(([, text]) => text !== '')
    const bodyOf = (texts: readonly string[]): string =>
      present.map(([label], k) => (label === '' ? texts[k] : `${label}:\n${texts[k]}`)).join('\n')
    const whole = section(name, bodyOf(present.map(([, text]) => text)))
    if (whole.tokens <= limit) return whole
    const frame = section(name, bodyOf(present.map(() => ''))).tokens
    const wanted = present.map(([, text]) => count(text))
    const shares = shareBudget(wanted, Math.max(0, limit - frame))
    return section(name, bodyOf(present.map(([, text], k) => clipText(text, shares[k] ?? 0, count))))
  }

  return {
    count,
    section,
    borders: (name) => ({ open: block(open(name)), close: block(close(name)) }),
    interaction: (interaction, limit) =>
      limited(
        `interaction ${interaction.index}${interaction.actor === null ? '' : ` by ${oneLine(interaction.actor)}`}`,
        [
          ['reasoning', reasoningText(interaction)],
          ['action', actionText(interaction)],
          ['observation', observationText(interaction)],
        ],
        limit,
      ),
    turn: (turn, limit) =>
      limited(`${TURN_NAME[turn.kind]} before interaction ${turn.before}`, [['', turn.text]], limit),
  }
}

/** Of all text that can stand in a block, and of nothing else: a run that was moved keeps its requests. */
function markOf(trajectory: Trajectory): string {
  const { system, task, interactions, turns } = trajectory
  const texts = interactions.map((interaction) => [
    reasoningText(interaction),
    actionText(interaction),
    observationText(interaction),
  ])
  const all = JSON.stringify([system, task, texts, turns.map((turn) => turn.text)])
  return createHash('sha256').update(all).digest('hex').slice(0, MARK_DIGITS)
}

const TURN_NAME = { user: 'user message', context: 'context', summary: 'summary' } as const

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 60)
}

export function joinBlocks(blocks: readonly Block[]): Block {
  return {
    text: blocks.map((block) => block.text).join(''),
    tokens: blocks.reduce((sum, block) => sum + block.tokens, 0),
  }
}
