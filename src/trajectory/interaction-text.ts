/**
 * The text of an interaction's parts: the one place where views, evidence and token counts agree on it. Pure.
 */
import type { Interaction } from './trajectory.ts'

/** R_i. */
export function reasoningText(interaction: Interaction): string {
  return interaction.reasoning
}

/** A_i: visible text, then one line per call: `name(arguments)`. */
export function actionText(interaction: Interaction): string {
  const lines = interaction.toolCalls.map((call) => `${call.name}(${call.arguments})`)
  return [interaction.text, ...lines].filter((part) => part !== '').join('\n')
}

/** O_i: results in order, one blank line between them. */
export function observationText(interaction: Interaction): string {
  return interaction.observations
    .map((observation) => (observation.isError ? `[error] ${observation.content}` : observation.content))
    .join('\n\n')
}

/** The whole S_i as plain text: what a reader would have to keep if nothing is replaced. */
export function interactionText(interaction: Interaction): string {
  return [reasoningText(interaction), actionText(interaction), observationText(interaction)]
    .filter((part) => part !== '')
    .join('\n')
}
