/**
 * Finds the tool call of the parent that started each sub-agent: the one whose prompt is the sub-agent's task. Pure.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { isObject } from './json-value.ts'

/** Names under which Claude Code has started sub-agents. */
const STARTERS = new Set(['Task', 'Agent'])

/** Several sub-agents with one prompt take the calls in order. */
export function linkSubAgents(trajectories: readonly Trajectory[]): readonly Trajectory[] {
  if (trajectories.every((trajectory) => trajectory.parent === null)) return trajectories
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]))
  const taken = new Set<string>()
  return trajectories.map((trajectory) => {
    if (trajectory.parent === null || trajectory.parentCall !== undefined) return trajectory
    const calls = byId.get(trajectory.parent)?.interactions.flatMap((interaction) => interaction.toolCalls) ?? []
    const call = calls.find(
      (candidate) =>
        candidate.id !== null &&
        STARTERS.has(candidate.name) &&
        !taken.has(candidate.id) &&
        promptOf(candidate.arguments).trim() === trajectory.task.trim(),
    )
    if (call === undefined || call.id === null) return trajectory
    taken.add(call.id)
    return { ...trajectory, parentCall: call.id }
  })
}

function promptOf(callArguments: string): string {
  try {
    const value: unknown = JSON.parse(callArguments)
    return isObject(value) && typeof value.prompt === 'string' ? value.prompt : ''
  } catch (cause) {
    // Arguments that are no JSON start nothing.
    if (cause instanceof SyntaxError) return ''
    throw cause
  }
}
