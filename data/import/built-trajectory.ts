/** A run that has been collected, as a trajectory: the fields that no importer sets differently stand here once. Pure. */
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
    id: facts.id,
    group: facts.group,
    domain: facts.format,
    format: facts.format,
    system: facts.system ?? '',
    task: facts.task,
    interactions: facts.interactions,
    turns: facts.turns,
    truncated: facts.truncated,
    parent: facts.parent ?? null,
    ...(typeof facts.parentCall === 'string' ? { parentCall: facts.parentCall } : {}),
    source: facts.source,
  }
}
