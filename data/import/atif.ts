/**
 * ATIF (Agent Trajectory Interchange Format, Harbor) 1.0 to 1.7: {schema_version, agent, steps[], ...}. An interaction is one
 * step of source agent. Sub-agents embedded in the file (1.7) follow their run and are linked to the call that started them.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { readAtifSteps } from './atif-steps.ts'
import { builtTrajectory } from './built-trajectory.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, stringOf } from './json-value.ts'

/** Sub-agents of sub-agents: deeper than any real run. */
const MAX_NESTING = 16

export const atif: Importer = {
  name: 'atif',
  summary: 'ATIF trajectories 1.0-1.7 (Harbor: schema_version "ATIF-v...")',
  detect({ document }) {
    return isAtif(document) && Array.isArray(document.steps)
      ? { because: `schema_version ${stringOf(document.schema_version)} with steps` }
      : null
  },
  async *read(file, context) {
    const { document } = file.sample
    if (!isObject(document) || !Array.isArray(document.steps))
      throw new AppError('log-malformed', `${file.name} is no ATIF trajectory: it has no steps`)
    const session = idOf(document.session_id) ?? idOf(document.trajectory_id) ?? file.sha256.slice(0, 16)
    yield* readRun(document, {
      file,
      context,
      id: `atif/${idOf(document.trajectory_id) ?? session}`,
      group: sessionGroup('atif', session),
      parent: null,
      parentCall: null,
      depth: 0,
    })
  },
}

function isAtif(value: unknown): value is JsonObject {
  return isObject(value) && /^ATIF-v\d/.test(stringOf(value.schema_version))
}

interface RunPlace {
  readonly file: LogFile
  readonly context: ReadContext
  readonly id: string
  readonly group: string
  readonly parent: string | null
  readonly parentCall: string | null
  readonly depth: number
}

function* readRun(document: JsonObject, place: RunPlace): Generator<Trajectory> {
  const { file, context, id, group, depth } = place
  const run = readAtifSteps(arrayOf(document.steps), { file: file.name, context, place: depth === 0 ? '' : `${id}: ` })
  yield builtTrajectory({
    format: 'atif',
    id,
    group,
    system: run.system,
    interactions: run.interactions,
    turns: run.turns,
    task: run.task,
    // It goes on in another file because its context was full.
    truncated: idOf(document.continued_trajectory_ref) !== null,
    parent: place.parent,
    parentCall: place.parentCall,
    source: { file: file.name },
  })
  const children = arrayOf(document.subagent_trajectories)
  if (depth === MAX_NESTING && children.length > 0) {
    context.damage({ reason: `${id}: sub-agents below level ${MAX_NESTING} are left out` })
    return
  }
  for (const [index, child] of children.entries()) {
    if (!isObject(child) || !Array.isArray(child.steps)) {
      context.damage({ reason: `${id}: sub-agent ${index} has no steps` })
      continue
    }
    const own = idOf(child.trajectory_id) ?? idOf(child.session_id)
    const parentCall = own === null ? null : (run.startedBy.get(own) ?? null)
    const name = own ?? `agent-${index}`
    yield* readRun(child, { ...place, id: `${id}/${name}`, parent: id, parentCall, depth: depth + 1 })
  }
}
