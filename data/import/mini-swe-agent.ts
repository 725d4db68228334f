/**
 * mini-swe-agent: a bare message list (v1), {info, messages, trajectory_format} (1, 1.1), and `agent.log` terminal recordings.
 * After the first messages the user role carries observations, not a person's words: what follows an assistant message is
 * its observation, format-error notices included. From 1.1 on models may call tools, and a message of role exit ends the run.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { instanceGroup, sessionGroup, sweBenchInstance, taskGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { contentText } from './content-text.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { type TextAction, textAction } from './mini-swe-agent-action.ts'
import { isRecording, readRecording } from './mini-swe-agent-recording.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export const miniSweAgent: Importer = {
  name: 'mini-swe-agent',
  summary: 'mini-swe-agent trajectories (.traj.json, 1 and 1.1) and agent.log recordings',
  detect({ document, head }) {
    if (isObject(document) && stringOf(document.trajectory_format).startsWith('mini-swe-agent'))
      return { because: `trajectory_format ${stringOf(document.trajectory_format)}` }
    const messages = messagesOf(document)
    if (messages.some(isAction) && messages.some((message) => message.role === 'system'))
      return { because: 'messages with one mswea_bash_command block' }
    if (messages.some(isReturnCode)) return { because: 'messages of role user that begin with <returncode>' }
    return document === undefined && isRecording(head)
      ? { because: 'a terminal recording with headers "mini-swe-agent (step N, $c):"' }
      : null
  },
  async *read(file, context) {
    if (file.sample.document === undefined) {
      const { run, ...facts } = await readRecording(file, context)
      yield trajectoryOf(run, { file, ...facts })
    } else yield readMessages(file, context)
  },
}

/** The list that a document is, or holds. */
function messagesOf(document: unknown): readonly JsonObject[] {
  const list = Array.isArray(document) ? document : isObject(document) ? arrayOf(document.messages) : []
  return list.filter((message): message is JsonObject => isObject(message) && typeof message.role === 'string')
}

function isAction(message: JsonObject): boolean {
  return message.role === 'assistant' && stringOf(message.content).includes('```mswea_bash_command\n')
}

function isReturnCode(message: JsonObject): boolean {
  return message.role === 'user' && /^\s*<returncode>/.test(stringOf(message.content))
}

function readMessages(file: LogFile, context: ReadContext): Trajectory {
  const { document } = file.sample
  const list = Array.isArray(document) ? document : arrayOf(objectOf(document).messages)
  if (messagesOf(document).length === 0)
    throw new AppError('log-malformed', `${file.name} is no mini-swe-agent run: it has no messages`)
  const run = createRunBuilder()
  const system: string[] = []
  const last = list.length - 1
  list.forEach((message: unknown, index) => {
    const source = { file: file.name, index }
    if (!isObject(message) || typeof message.role !== 'string') {
      context.damage({ index, reason: 'message has no role' })
      return
    }
    const content = contentText(message.content)
    const isExit = message.role === 'exit' || (message.role === 'user' && content.trim() === '' && index === last)
    if (isExit) context.ignore('exit record')
    else if (message.role === 'system' && run.count === 0) system.push(content)
    else if (message.role === 'assistant') run.call({ ...modelParts(message, content), source })
    else if (run.count === 0) run.turn('user', content, source)
    else if (run.result(observationOf(message, content)) !== 'paired')
      // A second message in a row: in confirm mode a person may add something.
      run.turn(message.role === 'user' ? 'user' : 'context', content, source)
  })
  const info = objectOf(objectOf(document).info)
  return trajectoryOf(run, {
    file,
    system: system.join('\n\n'),
    truncated: wasCut(info.exit_status),
    instance: idOf(objectOf(document).instance_id) ?? idOf(info.instance_id),
  })
}

function observationOf(message: JsonObject, content: string) {
  const callId = idOf(message.tool_call_id) ?? idOf(objectOf(message.extra).tool_call_id)
  return { callId, name: null, content, isError: false }
}

function modelParts(message: JsonObject, content: string): TextAction {
  const thinking = stringOf(message.reasoning_content)
  const calls = arrayOf(message.tool_calls).filter(isObject)
  if (calls.length > 0)
    return {
      reasoning: thinking,
      text: content,
      toolCalls: calls.map((call) => ({
        id: idOf(call.id),
        name: stringOf(objectOf(call.function).name),
        arguments: textOf(objectOf(call.function).arguments),
      })),
    }
  return textAction(content, thinking)
}

/** "Submitted" is the agent's own end; LimitsExceeded, ContextWindowExceededError, TimeExceeded and the like are not. */
function wasCut(status: unknown): boolean {
  return typeof status === 'string' && status !== '' && status.toLowerCase() !== 'submitted'
}

function trajectoryOf(
  run: RunBuilder,
  facts: {
    readonly file: LogFile
    readonly system: string
    readonly truncated: boolean
    readonly instance: string | null
  },
): Trajectory {
  const { file } = facts
  const built = run.finish()
  const stem = fileStem(file.name)
  const own = `${stem}-${file.sha256.slice(0, 8)}`
  const instance = facts.instance ?? sweBenchInstance(stem)
  const group = built.task.trim() === '' ? sessionGroup('mini-swe-agent', own) : taskGroup('mini-swe-agent', built.task)
  return builtTrajectory({
    format: 'mini-swe-agent',
    id: `mini-swe-agent/${own}`,
    group: instance === null ? group : instanceGroup('mini-swe-agent', instance),
    system: facts.system,
    ...built,
    truncated: facts.truncated,
    source: { file: file.name },
  })
}
