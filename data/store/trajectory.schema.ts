/**
 * A row of runs.jsonl: one canonical trajectory as one JSON line. Unknown keys are errors.
 */
import { z } from 'zod'
import { TRAJECTORY_SCHEMA_VERSION, type Trajectory } from '../../src/trajectory/trajectory.ts'
import { type CheckedRow, checkRow } from './checked-row.schema.ts'

const index = z.int().nonnegative()

const source = z.strictObject({
  file: z.string().min(1),
  line: z.int().positive().exactOptional(),
  index: index.exactOptional(),
})

const toolCall = z.strictObject({ id: z.string().nullable(), name: z.string(), arguments: z.string() })

const observation = z.strictObject({ callId: z.string().nullable(), content: z.string(), isError: z.boolean() })

const interaction = z.strictObject({
  index,
  actor: z.string().nullable(),
  reasoning: z.string(),
  text: z.string(),
  toolCalls: z.array(toolCall),
  observations: z.array(observation),
  source,
})

const turn = z.strictObject({ before: index, kind: z.enum(['user', 'context', 'summary']), text: z.string(), source })

const mark = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('compaction'), before: index, keptFrom: index }),
  z.strictObject({ kind: z.literal('mistake'), interaction: index }),
])

const row = z
  .strictObject({
    schemaVersion: z.literal(TRAJECTORY_SCHEMA_VERSION),
    id: z.string().min(1),
    group: z.string().min(1),
    domain: z.string().min(1),
    format: z.string().min(1),
    system: z.string(),
    task: z.string(),
    interactions: z.array(interaction).min(1),
    turns: z.array(turn),
    truncated: z.boolean(),
    parent: z.string().nullable(),
    parentCall: z.string().exactOptional(),
    marks: z.array(mark).exactOptional(),
    source,
  })
  .superRefine((value, context) => {
    value.interactions.forEach((entry, position) => {
      if (entry.index !== position)
        context.addIssue({ code: 'custom', path: ['interactions', position, 'index'], message: `must be ${position}` })
    })
    value.marks?.forEach((entry, position) => {
      const [name, at] = entry.kind === 'mistake' ? ['interaction', entry.interaction + 1] : ['before', entry.before]
      if (at > value.interactions.length || (entry.kind === 'compaction' && entry.keptFrom > entry.before))
        context.addIssue({
          code: 'custom',
          path: ['marks', position, name],
          message: `points past the run's ${value.interactions.length} interactions, or keeps from after itself`,
        })
    })
    let last = 0
    value.turns.forEach((entry, position) => {
      if (entry.before < last || entry.before > value.interactions.length)
        context.addIssue({
          code: 'custom',
          path: ['turns', position, 'before'],
          message: `must be from ${last} (order of the run) to ${value.interactions.length} (its interactions)`,
        })
      last = Math.max(last, entry.before)
    })
  })

/** Checks one parsed line; `problem` names the first wrong field. */
export function parseTrajectoryRow(value: unknown): CheckedRow<Trajectory> {
  return checkRow(row, TRAJECTORY_SCHEMA_VERSION, value)
}
