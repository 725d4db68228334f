/**
 * The canonical form of an agent run, offline (importers) and online (a parsed provider history). Pure types.
 *
 * Indices. Interactions and checkpoints are 0-based. Checkpoint c has the prefix [0, c): the agent is about to make
 * interaction c; its newest interaction is c-1 and its targets are [0, c-1). `index` is canonical: offline it equals
 * the array position; in an effective history that holds summaries there are gaps, and `index` never changes.
 */

export const TRAJECTORY_SCHEMA_VERSION = 1

/** Where a record came from: the file and, inside it, a 1-based line (JSONL) or a 0-based index (list in one JSON). */
export interface SourceRef {
  readonly file: string
  readonly line?: number
  readonly index?: number
}

export interface ToolCall {
  /** Provider's id, null where the format has none. */
  readonly id: string | null
  readonly name: string
  /** As logged: a JSON text where the format has one, else the action's text. */
  readonly arguments: string
}

export interface Observation {
  readonly callId: string | null
  /** Text of the result; images and opaque blobs stand as a short bracketed description. "" is a result too. */
  readonly content: string
  readonly isError: boolean
}

/** S_i = (reasoning R_i, action A_i = text + toolCalls, observation O_i): one model call and everything that answers it. */
export interface Interaction {
  readonly index: number
  /** Agent or role that acted, where one run holds several; else null. */
  readonly actor: string | null
  readonly reasoning: string
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly observations: readonly Observation[]
  readonly source: SourceRef
}

/**
 * Text between interactions. `before` is the canonical index of the interaction it precedes; a turn after the last
 * interaction has before = last index + 1. The state at checkpoint c includes turns with before <= c.
 * kind: `user` a person's words; `context` injected by the harness; `summary` a summary that replaced interactions.
 */
export interface Turn {
  readonly before: number
  readonly kind: 'user' | 'context' | 'summary'
  readonly text: string
  readonly source: SourceRef
}

/**
 * What a log says about its own run beside its text: weak labels. Nothing that labels, features or views are made from reads
 * them; docs/labels.md holds labels against them.
 * compaction: when interaction `before` was to be made, the program replaced what stood before `keptFrom` by a summary.
 * mistake: a person named this interaction as the one that decided the run's failure.
 */
export type Mark =
  | { readonly kind: 'compaction'; readonly before: number; readonly keptFrom: number }
  | { readonly kind: 'mistake'; readonly interaction: number }

export interface Trajectory {
  readonly schemaVersion: typeof TRAJECTORY_SCHEMA_VERSION
  readonly id: string
  /** Unit of rotations, bootstrap and near-copy checks (DESIGN section 2). */
  readonly group: string
  /** e.g. `tau-bench`, `who-and-when`, `claude-code`: what per-domain metrics are split by. */
  readonly domain: string
  /** Importer's format name. */
  readonly format: string
  /** System prompt; "" if the log has none. */
  readonly system: string
  /** Task header: the first user turn(s) before the first interaction; never a target. */
  readonly task: string
  readonly interactions: readonly Interaction[]
  /** In order; turns before interaction 0 that make up `task` are not repeated here. */
  readonly turns: readonly Turn[]
  /** The run was cut by a limit (steps, cost, tokens) rather than ended by the agent. */
  readonly truncated: boolean
  /** Id of the trajectory this one is a sub-agent of, else null. */
  readonly parent: string | null
  /** Id of the parent's tool call that started this sub-agent, where the log tells. */
  readonly parentCall?: string
  /** In the order of the log; absent where the format has none. */
  readonly marks?: readonly Mark[]
  readonly source: SourceRef
}

/** One past the newest canonical index: the checkpoint of the whole trajectory (0 if it has no interaction). */
export function endCheckpoint(trajectory: Trajectory): number {
  const last = trajectory.interactions.at(-1)
  return last === undefined ? 0 : last.index + 1
}

/** The prefix of a trajectory at checkpoint c: interactions with index < c and turns with before <= c. */
export function prefixAt(trajectory: Trajectory, checkpoint: number): Trajectory {
  return {
    ...trajectory,
    interactions: trajectory.interactions.filter((interaction) => interaction.index < checkpoint),
    turns: trajectory.turns.filter((turn) => turn.before <= checkpoint),
  }
}

/** Targets of checkpoint c: every surviving interaction but the newest, in order. Also the Top-k pool. */
export function targetsAt(trajectory: Trajectory, checkpoint: number): readonly Interaction[] {
  return trajectory.interactions.filter((interaction) => interaction.index < checkpoint).slice(0, -1)
}
