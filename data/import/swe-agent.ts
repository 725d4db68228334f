/**
 * SWE-agent `.traj`: {trajectory[], history[], info, environment}. An interaction is trajectory[i] {thought, action,
 * observation}; `response` is the same text as thought + action and counts once. `history` gives the system prompt, the
 * demonstration and the task; older function-calling files hold nothing else, then it gives the interactions too.
 */
import { AppError } from '../../src/errors.ts'
import {
  type Interaction,
  type ToolCall,
  TRAJECTORY_SCHEMA_VERSION,
  type Turn,
} from '../../src/trajectory/trajectory.ts'
import { sweAgentGroup } from '../groups.ts'
import { contentText } from './content-text.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { createRunBuilder, splitTask } from './run-builder.ts'

/** The agent's shell and editor commands carry no tool name of their own in the log. */
const COMMAND = 'command'

export const sweAgent: Importer = {
  name: 'swe-agent',
  summary: 'SWE-agent trajectories (.traj with trajectory and history)',
  detect({ document }) {
    if (!isObject(document)) return null
    const steps = arrayOf(document.trajectory)
    if (steps.some((step) => isObject(step) && 'action' in step && 'observation' in step && 'thought' in step))
      return { because: 'an object with trajectory steps of thought, action and observation' }
    const isAgents = (message: unknown): boolean => isObject(message) && 'agent' in message && 'role' in message
    if (arrayOf(document.history).some(isAgents))
      return { because: 'an object with a history of messages that name their agent' }
    return null
  },
  async *read(file, context) {
    const { document } = file.sample
    if (!isObject(document) || (!Array.isArray(document.trajectory) && !Array.isArray(document.history)))
      throw new AppError('log-malformed', `${file.name} is no SWE-agent run: it has neither trajectory nor history`)
    const history = arrayOf(document.history).filter(isObject)
    const run = Array.isArray(document.trajectory)
      ? { interactions: fromSteps(document.trajectory, file, context), ...headerOf(history, file) }
      : fromHistory(history, file, context)
    const stem = fileStem(file.name)
    yield {
      schemaVersion: TRAJECTORY_SCHEMA_VERSION,
      id: `swe-agent/${stem}-${file.sha256.slice(0, 8)}`,
      group: sweAgentGroup({ stem, issue: issueText(run.task) }),
      domain: 'swe-agent',
      format: 'swe-agent',
      system: systemOf(history),
      ...run,
      truncated: wasCut(objectOf(document.info).exit_status),
      parent: null,
      source: { file: file.name },
    }
  },
}

function systemOf(history: readonly JsonObject[]): string {
  return history
    .filter((message) => message.role === 'system')
    .map((message) => contentText(message.content))
    .join('\n\n')
}

function fromSteps(steps: readonly unknown[], file: LogFile, context: ReadContext): readonly Interaction[] {
  const interactions: Interaction[] = []
  steps.forEach((step, index) => {
    if (!isObject(step) || (!('action' in step) && !('response' in step))) {
      context.damage({ index, reason: 'trajectory step has neither action nor response' })
      return
    }
    const thought = contentText(step.thought)
    const action = contentText(step.action)
    const toolCalls: ToolCall[] = action.trim() === '' ? [] : [{ id: null, name: COMMAND, arguments: action }]
    interactions.push({
      index: interactions.length,
      actor: null,
      reasoning: thought,
      text: remainderOf(contentText(step.response), thought, action),
      toolCalls,
      observations:
        'observation' in step ? [{ callId: null, content: contentText(step.observation), isError: false }] : [],
      source: { file: file.name, index },
    })
  })
  return interactions
}

/** What the model wrote beside its thought and its action, without the fence around the action: usually nothing. */
function remainderOf(response: string, thought: string, action: string): string {
  let rest = response
  for (const known of [thought.trim(), action.trim()]) if (known !== '') rest = rest.replace(known, () => '\n')
  return rest.replace(/```\w*|<\/?command>|DISCUSSION|COMMAND/g, '').trim() === '' ? '' : rest.trim()
}

/** Demonstration and task: what the history holds before the first model call. */
function headerOf(history: readonly JsonObject[], file: LogFile): { turns: readonly Turn[]; task: string } {
  const first = history.findIndex((message) => message.role === 'assistant' && message.is_demo !== true)
  const head = first === -1 ? history : history.slice(0, first)
  return splitTask(
    head
      .map((message, index) => ({ message, index }))
      .filter(({ message }) => message.role !== 'system')
      .map(({ message, index }) => ({
        before: 0,
        kind: message.is_demo === true ? 'context' : 'user',
        text: contentText(message.content),
        source: { file: file.name, index },
      })),
  )
}

function fromHistory(
  history: readonly JsonObject[],
  file: LogFile,
  context: ReadContext,
): { interactions: readonly Interaction[]; turns: readonly Turn[]; task: string } {
  const run = createRunBuilder()
  history.forEach((message, index) => {
    const source = { file: file.name, index }
    const content = contentText(message.content)
    if (message.role === 'system') return
    if (message.is_demo === true) run.turn('context', content, source)
    else if (message.role === 'assistant') {
      const thought = stringOf(message.thought)
      run.call({
        reasoning: thought,
        text: remainderOf(content, thought, stringOf(message.action)),
        toolCalls: callsOf(message),
        source,
      })
    } else if (
      message.role === 'tool' ||
      (run.count > 0 && (message.message_type ?? 'observation') === 'observation')
    ) {
      const callId = idOf(arrayOf(message.tool_call_ids)[0])
      const pairing = run.result({ callId, name: null, content, isError: false })
      if (pairing !== 'paired') context.damage({ index, reason: `${pairing} result of call ${callId ?? '(no id)'}` })
    } else run.turn('user', content, source)
  })
  return run.finish()
}

function callsOf(message: JsonObject): readonly ToolCall[] {
  const calls = arrayOf(message.tool_calls).filter(isObject)
  if (calls.length > 0)
    return calls.map((call) => ({
      id: idOf(call.id),
      name: stringOf(objectOf(call.function).name),
      arguments: textOf(objectOf(call.function).arguments),
    }))
  const action = stringOf(message.action)
  return action.trim() === '' ? [] : [{ id: null, name: COMMAND, arguments: action }]
}

/** The issue between its marks in the task: the same under every configuration. */
function issueText(task: string): string {
  return /ISSUE:?\s*\n([\s\S]*?)\n\s*(?:INSTRUCTIONS|IMPORTANT TIPS)/.exec(task)?.[1] ?? ''
}

/** e.g. "submitted (exit_cost)", "exit_context", "early_exit"; null when the run never came to an end. */
function wasCut(status: unknown): boolean {
  return status === null || (typeof status === 'string' && /exit_|early_exit|timeout|limit/.test(status))
}
