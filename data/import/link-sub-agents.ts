/**
 * Finds the tool call of the parent that started each sub-agent: the one whose prompt is the sub-agent's task. Runs pass
 * through one at a time, parents before their sub-agents; only ids and hashes of the starting calls are kept.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { textKey } from '../groups.ts'
import { isObject, stringOf } from './json-value.ts'

/** Names under which agents have started sub-agents: Claude Code, Codex. */
const STARTERS = new Set(['Task', 'Agent', 'spawn_agent'])

export interface SubAgentLinks {
  /** The run with `parentCall` where a call of its parent has its task for a prompt. */
  link(trajectory: Trajectory): Trajectory
}

interface StarterCall {
  readonly id: string
  readonly promptKey: string
}

/** Several sub-agents with one prompt take the calls in order. */
export function createSubAgentLinks(): SubAgentLinks {
  const startersOf = new Map<string, StarterCall[]>()
  return {
    link(trajectory) {
      const starters = starterCalls(trajectory)
      if (starters.length > 0) startersOf.set(trajectory.id, starters)
      if (trajectory.parent === null || trajectory.parentCall !== undefined) return trajectory
      const open = startersOf.get(trajectory.parent) ?? []
      const task = textKey(trajectory.task)
      const [call] = open.splice(open.findIndex((candidate) => candidate.promptKey === task) >>> 0, 1)
      return call === undefined ? trajectory : { ...trajectory, parentCall: call.id }
    },
  }
}

function starterCalls(trajectory: Trajectory): StarterCall[] {
  return trajectory.interactions.flatMap(({ toolCalls }) =>
    toolCalls.flatMap((call) => {
      if (call.id === null || !STARTERS.has(call.name)) return []
      const prompt = promptOf(call.arguments)
      return prompt === '' ? [] : [{ id: call.id, promptKey: textKey(prompt) }]
    }),
  )
}

function promptOf(callArguments: string): string {
  try {
    const value: unknown = JSON.parse(callArguments)
    return isObject(value) ? stringOf(value.prompt) || stringOf(value.message) : ''
  } catch (cause) {
    // Arguments that are no JSON start nothing.
    if (cause instanceof SyntaxError) return ''
    throw cause
  }
}
