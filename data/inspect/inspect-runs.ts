/**
 * What a file of runs holds: the card that one reads before training on it. Pure but for the tokenizer's tables.
 */
import { countActingTokens } from '../../models/tokenizer/acting-tokens.ts'
import { interactionText } from '../../src/trajectory/interaction-text.ts'
import type { Interaction, Trajectory } from '../../src/trajectory/trajectory.ts'
import { findNearDuplicates, type GroupMerge } from '../near-duplicates.ts'
import { type Distribution, distributionOf } from './distribution.ts'

export interface RunCount {
  readonly runs: number
  readonly groups: number
  readonly interactions: number
  /** o200k: an estimate where the acting model counts otherwise. */
  readonly tokens: number
}

export interface RunsCard extends RunCount {
  readonly kind: 'runs'
  readonly byDomain: readonly (RunCount & { readonly name: string; readonly formats: readonly string[] })[]
  readonly byFormat: readonly (RunCount & { readonly name: string })[]
  readonly interactionsPerRun: Distribution
  readonly tokensPerRun: Distribution
  readonly tokensPerInteraction: Distribution
  /** Runs cut by a limit. */
  readonly truncated: number
  /** Runs of fewer than 3 interactions: they have no checkpoint, extract leaves them out. */
  readonly withoutCheckpoint: number
  readonly subAgents: number
  /** Interactions with a call that has no observation: the log ends there, or a result is lost. */
  readonly unanswered: number
  /** Observations without a visible character; an empty result is a result too. */
  readonly emptyObservations: number
  readonly errorObservations: number
  readonly observations: number
  readonly turns: { readonly user: number; readonly context: number; readonly summary: number }
  /** Groups that `extract` will treat as one. */
  readonly nearCopies: readonly GroupMerge[]
  readonly groupsAfterMerging: number
}

export function inspectRuns(runs: readonly Trajectory[], onRun: (done: number) => void = () => undefined): RunsCard {
  const tokensOf = runs.map((run, at) => {
    const tokens = run.interactions.map((interaction) => countActingTokens(interactionText(interaction)))
    onRun(at + 1)
    return tokens
  })
  const perRun = tokensOf.map((tokens) => tokens.reduce((sum, value) => sum + value, 0))
  const interactions = runs.flatMap((run) => run.interactions)
  const observations = interactions.flatMap((interaction) => interaction.observations)
  const turns = runs.flatMap((run) => run.turns)
  const count = (only: (run: Trajectory) => boolean): RunCount => countRuns(runs, perRun, only)
  const { merges, groupOf } = findNearDuplicates(runs)
  return {
    kind: 'runs',
    ...count(() => true),
    byDomain: namesOf(runs, (run) => run.domain).map((name) => ({
      name,
      ...count((run) => run.domain === name),
      formats: namesOf(
        runs.filter((run) => run.domain === name),
        (run) => run.format,
      ),
    })),
    byFormat: namesOf(runs, (run) => run.format).map((name) => ({ name, ...count((run) => run.format === name) })),
    interactionsPerRun: distributionOf(runs.map((run) => run.interactions.length)),
    tokensPerRun: distributionOf(perRun),
    tokensPerInteraction: distributionOf(tokensOf.flat()),
    truncated: runs.filter((run) => run.truncated).length,
    withoutCheckpoint: runs.filter((run) => run.interactions.length < 3).length,
    subAgents: runs.filter((run) => run.parent !== null).length,
    unanswered: interactions.filter(isUnanswered).length,
    emptyObservations: observations.filter((observation) => observation.content.trim() === '').length,
    errorObservations: observations.filter((observation) => observation.isError).length,
    observations: observations.length,
    turns: {
      user: turns.filter((turn) => turn.kind === 'user').length,
      context: turns.filter((turn) => turn.kind === 'context').length,
      summary: turns.filter((turn) => turn.kind === 'summary').length,
    },
    nearCopies: merges,
    groupsAfterMerging: new Set(groupOf.values()).size,
  }
}

function countRuns(
  runs: readonly Trajectory[],
  tokens: readonly number[],
  only: (run: Trajectory) => boolean,
): RunCount {
  const groups = new Set<string>()
  const counts = { runs: 0, interactions: 0, tokens: 0 }
  for (const [at, run] of runs.entries()) {
    if (!only(run)) continue
    groups.add(run.group)
    counts.runs++
    counts.interactions += run.interactions.length
    counts.tokens += tokens[at] ?? 0
  }
  return { ...counts, groups: groups.size }
}

function isUnanswered(interaction: Interaction): boolean {
  return interaction.toolCalls.length > interaction.observations.length
}

function namesOf(runs: readonly Trajectory[], nameOf: (run: Trajectory) => string): readonly string[] {
  return [...new Set(runs.map(nameOf))].sort()
}
