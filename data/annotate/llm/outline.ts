/**
 * A run in single lines: what each interaction did and what was said in between, for a reader who has the rest at hand. Pure.
 */
import type { Interaction, Trajectory } from '../../../src/trajectory/trajectory.ts'
import { takeStart } from '../../../src/view/cut-text.ts'

const LINE_CHARS = 160

/** @param isShown interactions that stand elsewhere in full are left out */
export function outlineLines(trajectory: Trajectory, isShown: (index: number) => boolean): readonly string[] {
  return trajectory.interactions
    .flatMap((interaction) =>
      isShown(interaction.index) ? [] : [{ at: interaction.index + 0.5, line: lineOf(interaction) }],
    )
    .concat(
      trajectory.turns.map(({ before, kind, text }) => ({
        at: before,
        line: `${kind} message before ${before}: ${shorten(text)}`,
      })),
    )
    .sort((a, b) => a.at - b.at)
    .map(({ line }) => line)
}

/** Its calls; its words where it called nothing. */
function lineOf(interaction: Interaction): string {
  const calls = interaction.toolCalls.map((call) => `${call.name}(${call.arguments})`).join('; ')
  const said = interaction.text !== '' ? interaction.text : interaction.reasoning
  return `${interaction.index}: ${shorten(calls !== '' ? calls : said)}`
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > LINE_CHARS ? `${takeStart(line, LINE_CHARS)}...` : line
}
