/**
 * LiveMCPBench: one task, or a list of them, {task_id, Question, messages[], judges?}; messages are an OpenAI chat list
 * and go through the same parser as a server request.
 */
import { AppError } from '../../src/errors.ts'
import { scanJson } from '../../src/protocol/scan-json.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { webTaskGroup } from '../groups.ts'
import { historyTrajectory } from './history-trajectory.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'

export const liveMcpBench: Importer = {
  name: 'livemcpbench',
  summary: 'LiveMCPBench tasks (JSON with task_id, Question, messages, judges)',
  detect({ document }) {
    const tasks = (Array.isArray(document) ? document : [document]).filter(isLiveMcpTask).length
    return tasks === 0 ? null : { because: `${tasks} tasks with task_id, Question, Annotator Metadata and messages` }
  },
  async *read(file, context) {
    const text = await file.text()
    const root = scanJson(text, { keepDepth: 2 })
    const nodes = root.kind === 'array' ? root.elements : [root]
    let runs = 0
    for (const [index, node] of nodes.entries()) {
      const value: unknown = JSON.parse(text.slice(node.start, node.end))
      const messages = node.members.get('messages')
      const task = isObject(value) ? stringOf(value.task_id) : ''
      if (messages?.kind !== 'array' || task === '') {
        context.damage({ index, reason: 'element is no task: it has no task_id, or no messages list' })
        continue
      }
      const run = readTask(text.slice(messages.start, messages.end), objectOf(value), {
        file,
        context,
        index: root.kind === 'array' ? index : null,
      })
      if (run === null) continue
      runs += 1
      yield run
    }
    if (runs === 0)
      throw new AppError(
        'log-malformed',
        `${file.name} holds no LiveMCPBench task with a message list that can be read`,
      )
  },
}

/** @param value e.g. a request body of another chat log */
export function isLiveMcpTask(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.task_id === 'string' &&
    typeof value.Question === 'string' &&
    ('Annotator Metadata' in value || 'judges' in value) &&
    Array.isArray(value.messages)
  )
}

function readTask(
  messages: string,
  task: JsonObject,
  /** `index`: element of a list of tasks; null for a file with one task, whose messages are what an index counts. */
  { file, context, index }: { readonly file: LogFile; readonly context: ReadContext; readonly index: number | null },
): Trajectory | null {
  const id = stringOf(task.task_id)
  try {
    const run = historyTrajectory({
      text: messages,
      format: 'openai-chat',
      id: `livemcpbench/${id}-${file.sha256.slice(0, 8)}`,
      domain: 'livemcpbench',
      groupOf: () => webTaskGroup('livemcpbench', id),
      source: index === null ? { file: file.name } : { file: file.name, index },
      truncated: wasCut(task),
    })
    for (const entry of run.damage)
      context.damage(index === null ? entry : { index, reason: `message ${entry.index}: ${entry.reason}` })
    return run.trajectory
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    context.damage({ ...(index === null ? {} : { index }), reason: cause.message })
    return null
  }
}

/** A run that came to its end closes with the answer; one cut by the limit of rounds ends at a tool result. */
function wasCut(task: JsonObject): boolean {
  const last = arrayOf(task.messages).at(-1)
  return isObject(last) && (last.role === 'tool' || arrayOf(last.tool_calls).length > 0)
}
