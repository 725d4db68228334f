/**
 * Small runs for tests of evidence and labels: each interaction is given by what it says, does and sees.
 */
import {
  type Interaction,
  TRAJECTORY_SCHEMA_VERSION,
  type Trajectory,
  type Turn,
} from '../../../src/trajectory/trajectory.ts'

const SOURCE = { file: 'test' }

export interface Step {
  readonly index?: number
  readonly reasoning?: string
  readonly text?: string
  /** Arguments of one call to `tool`. */
  readonly call?: string
  readonly sees?: string
}

export interface RunParts {
  readonly id?: string
  readonly domain?: string
  readonly system?: string
  readonly task?: string
  readonly steps: readonly Step[]
  readonly turns?: readonly { readonly before: number; readonly text: string; readonly kind?: Turn['kind'] }[]
}

export function runOf(parts: RunParts): Trajectory {
  return {
    schemaVersion: TRAJECTORY_SCHEMA_VERSION,
    id: parts.id ?? 'run',
    group: parts.id ?? 'run',
    domain: parts.domain ?? 'test',
    format: 'test',
    system: parts.system ?? '',
    task: parts.task ?? '',
    interactions: parts.steps.map(interactionOf),
    turns: (parts.turns ?? []).map((turn) => ({ kind: 'user', ...turn, source: SOURCE })),
    truncated: false,
    parent: null,
    source: SOURCE,
  }
}

function interactionOf(step: Step, position: number): Interaction {
  return {
    index: step.index ?? position,
    actor: null,
    reasoning: step.reasoning ?? '',
    text: step.text ?? '',
    toolCalls: step.call === undefined ? [] : [{ id: null, name: 'run_tool', arguments: step.call }],
    observations: step.sees === undefined ? [] : [{ callId: null, content: step.sees, isError: false }],
    source: SOURCE,
  }
}
