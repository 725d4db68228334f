/**
 * A run that has been collected, as a trajectory: the fields that no importer sets differently stand here once, and lone
 * surrogates are repaired wherever a log may have left one. Pure.
 */
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import { TRAJECTORY_SCHEMA_VERSION, type Trajectory } from '../../src/trajectory/trajectory.ts'
import type { FormatName } from './importer.ts'

export interface RunFacts
  extends Pick<Trajectory, 'id' | 'group' | 'interactions' | 'turns' | 'task' | 'truncated' | 'source'> {
  /** Also the domain. */
  readonly format: FormatName
  readonly system?: string
  readonly parent?: string | null
  readonly parentCall?: string | null
}

export function builtTrajectory(facts: RunFacts): Trajectory {
  return {
    schemaVersion: TRAJECTORY_SCHEMA_VERSION,
    id: toWellFormed(facts.id),
    group: toWellFormed(facts.group),
    domain: facts.format,
    format: facts.format,
    system: toWellFormed(facts.system ?? ''),
    task: toWellFormed(facts.task),
    interactions: facts.interactions.map((interaction) => ({
      ...interaction,
      actor: orNull(interaction.actor),
      reasoning: toWellFormed(interaction.reasoning),
      text: toWellFormed(interaction.text),
      toolCalls: interaction.toolCalls.map((call) => ({
        id: orNull(call.id),
        name: toWellFormed(call.name),
        arguments: toWellFormed(call.arguments),
      })),
      observations: interaction.observations.map((observation) => ({
        ...observation,
        callId: orNull(observation.callId),
        content: toWellFormed(observation.content),
      })),
    })),
    turns: facts.turns.map((turn) => ({ ...turn, text: toWellFormed(turn.text) })),
    truncated: facts.truncated,
    parent: orNull(facts.parent ?? null),
    ...(typeof facts.parentCall === 'string' ? { parentCall: toWellFormed(facts.parentCall) } : {}),
    source: facts.source,
  }
}

function orNull(text: string | null): string | null {
  return text === null ? null : toWellFormed(text)
}
