/**
 * tau-bench results: one JSON list of {task_id, trial, reward, info, traj[]}; traj is an OpenAI chat message list.
 */
import { AppError } from '../../src/errors.ts'
import { scanJson } from '../../src/protocol/scan-json.ts'
import { tauBenchGroup } from '../groups.ts'
import { fileStem } from './file-stem.ts'
import { historyTrajectory } from './history-trajectory.ts'
import type { Importer } from './importer.ts'
import { arrayOf, isObject, type JsonObject, stringOf } from './json-value.ts'

/** Ends a run on the agent's side: the environment takes no further step after it. */
const FINAL_TOOL = 'transfer_to_human_agents'
const STOP = '###STOP###'

export const tauBench: Importer = {
  name: 'tau-bench',
  summary: 'tau-bench results (JSON list with task_id, trial, traj)',
  detect({ document }) {
    const runs = Array.isArray(document) ? document.filter(isRun).length : isRun(document) ? 1 : 0
    return runs === 0 ? null : { because: `${runs} elements with task_id and a traj list` }
  },
  async *read(file, context) {
    const text = await file.text()
    const root = scanJson(text, { keepDepth: 2, isParsed: file.sample.document !== undefined })
    const nodes = root.kind === 'array' ? root.elements : [root]
    const seen = new Map<string, number>()
    for (const [index, node] of nodes.entries()) {
      const value: unknown = JSON.parse(text.slice(node.start, node.end))
      const traj = node.members.get('traj')
      if (!isRun(value) || traj === undefined) {
        context.damage({ index, reason: 'element is no run: it has no task_id, or no traj list' })
        continue
      }
      const name = `task${String(value.task_id)}.trial${String(value.trial ?? 0)}`
      const copies = seen.get(name) ?? 0
      seen.set(name, copies + 1)
      try {
        const run = historyTrajectory({
          text: text.slice(traj.start, traj.end),
          value: value.traj,
          format: 'openai-chat',
          id: `tau-bench/${fileStem(file.name)}/${name}${copies === 0 ? '' : `.${copies + 1}`}`,
          domain: 'tau-bench',
          groupOf: () => tauBenchGroup(String(value.task_id)),
          source: { file: file.name, index },
          truncated: wasCut(value),
        })
        for (const entry of run.damage) context.damage({ index, reason: `message ${entry.index}: ${entry.reason}` })
        yield run.trajectory
      } catch (cause) {
        if (!(cause instanceof AppError)) throw cause
        context.damage({ index, reason: cause.message })
      }
    }
  },
}

function isRun(value: unknown): value is JsonObject {
  return isObject(value) && 'task_id' in value && Array.isArray(value.traj)
}

/** The user simulator has not said stop, and the agent has not handed over. */
function wasCut(run: JsonObject): boolean {
  const last = arrayOf(run.traj).at(-1)
  if (!isObject(last)) return false
  return !stringOf(last.content).includes(STOP) && last.name !== FINAL_TOOL
}
