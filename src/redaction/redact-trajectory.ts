/**
 * Masks secrets in a whole run: every text that is written to disk or sent to a model. Ids, names and places stay. Pure.
 */
import type { Interaction, Trajectory } from '../trajectory/trajectory.ts'
import { redactJson } from './redact-json.ts'
import { createRedactor, type Redactor } from './redact-text.ts'

export interface RedactedTrajectory {
  readonly trajectory: Trajectory
  /** Masks put in, by rule id; empty when nothing was found. */
  readonly counts: Readonly<Record<string, number>>
}

/** A secret has one mask in all texts of the run. Arguments of tool calls that were JSON stay JSON. */
export function redactTrajectory(trajectory: Trajectory): RedactedTrajectory {
  const redactor = createRedactor()
  const masked: Trajectory = {
    ...trajectory,
    system: redactor.redact(trajectory.system),
    task: redactor.redact(trajectory.task),
    interactions: trajectory.interactions.map((interaction) => redactInteraction(interaction, redactor)),
    turns: trajectory.turns.map((turn) => ({ ...turn, text: redactor.redact(turn.text) })),
  }
  return { trajectory: masked, counts: redactor.counts }
}

function redactInteraction(interaction: Interaction, redactor: Redactor): Interaction {
  return {
    ...interaction,
    reasoning: redactor.redact(interaction.reasoning),
    text: redactor.redact(interaction.text),
    toolCalls: interaction.toolCalls.map((call) => ({ ...call, arguments: redactJson(call.arguments, redactor) })),
    observations: interaction.observations.map((observation) => ({
      ...observation,
      content: redactor.redact(observation.content),
    })),
  }
}
