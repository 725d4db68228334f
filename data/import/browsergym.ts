/**
 * BrowserGym steps as JSONL: an optional first line {type:"summary"}, then one line per step {step, obs, action, reward}.
 * `obs` is what the agent saw before its `action`; what came of the action is the observation of the next line, which
 * names it (`last_action`) and says whether it failed (`last_action_error`).
 */
import { AppError } from '../../src/errors.ts'
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import { webTaskGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export const browserGym: Importer = {
  name: 'browsergym',
  summary: 'BrowserGym steps (JSONL of {step, obs, action, reward}, WebArena and others)',
  detect({ records, document }) {
    const steps = (document === undefined ? records : [document]).filter(isStep).length
    return steps === 0 ? null : { because: `${steps} of the first records are steps with obs.axtree_txt and action` }
  },
  async *read(file, context) {
    const run = createRunBuilder()
    const state: State = { run, file, context, previous: null, knownChat: 0 }
    let summary: JsonObject = {}
    for await (const line of file.lines()) {
      if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
      else if (isObject(line.value) && line.value.type === 'summary') {
        summary = line.value
        context.ignore('summary')
      } else if (isStep(line.value)) addStep(state, line.value, line.line)
      else context.damage({ line: line.line, reason: 'record is no step: it has no obs or no action' })
    }
    if (state.previous === null) throw new AppError('log-malformed', `${file.name} holds no BrowserGym step`)
    const { benchmark, name } = taskOf(summary, file)
    yield builtTrajectory({
      id: `browsergym/${benchmark}/${name}-${file.sha256.slice(0, 8)}`,
      group: webTaskGroup(benchmark, name),
      format: 'browsergym',
      ...run.finish(),
      truncated: objectOf(summary.summary).truncated === true || state.previous.truncated === true,
      source: { file: file.name },
    })
  },
}

interface State {
  readonly run: RunBuilder
  readonly file: LogFile
  readonly context: ReadContext
  previous: JsonObject | null
  /** Messages of the chat that were seen already: every observation repeats them all. */
  knownChat: number
}

function isStep(value: unknown): value is JsonObject {
  return isObject(value) && isObject(value.obs) && typeof value.action === 'string' && 'axtree_txt' in value.obs
}

/** Text of the goal: a string, or the text parts of `goal_object` for goals with images. */
function goalOf(step: JsonObject): string {
  const obs = objectOf(step.obs)
  const parts = arrayOf(obs.goal_object).filter(isObject)
  return stringOf(obs.goal) || parts.map((part) => stringOf(part.text)).join('\n')
}

function addStep(state: State, step: JsonObject, line: number): void {
  const { run, context, previous } = state
  const source = { file: state.file.name, line }
  const obs = objectOf(step.obs)
  const page = pageText(obs)
  if (previous === null) run.turn('user', toWellFormed(goalOf(step)), source)
  const isFollowing = previous === null || followsOn(previous, step)
  if (previous === null || !isFollowing) run.turn('context', page, source)
  else run.result({ callId: null, name: null, content: page, isError: stringOf(obs.last_action_error) !== '' })
  if (!isFollowing)
    context.damage({
      line,
      reason: `step ${String(step.step)} does not follow on step ${String(previous?.step)}: its page answers a missing step`,
    })
  addChat(state, obs, goalOf(step), line)
  const { thought, code, text } = splitAction(stringOf(step.action))
  run.call({
    reasoning: thought,
    text,
    toolCalls: code === '' ? [] : [{ id: null, name: /^\s*(\w+)\s*\(/.exec(code)?.[1] ?? 'action', arguments: code }],
    source,
  })
  state.previous = step
}

/** By the step's number; without numbers every line follows on the one before it. */
function followsOn(previous: JsonObject, step: JsonObject): boolean {
  if (typeof previous.step !== 'number' || typeof step.step !== 'number') return true
  return step.step === previous.step + 1
}

/** A person's words after the goal. What the agent itself sent is its `send_msg_to_user` call. */
function addChat(state: State, obs: JsonObject, goal: string, line: number): void {
  const chat = arrayOf(obs.chat_messages)
  for (const message of chat.slice(state.knownChat).filter(isObject)) {
    const text = stringOf(message.message)
    if (message.role !== 'user' && message.role !== 'infeasible') continue
    if (text.trim() !== goal.trim()) state.run.turn('user', text, { file: state.file.name, line })
  }
  state.knownChat = Math.max(state.knownChat, chat.length)
}

/** What the agent sees of an observation, in the order in which it matters: failure, pages, accessibility tree. */
function pageText(obs: JsonObject): string {
  const error = stringOf(obs.last_action_error)
  const titles = arrayOf(obs.open_pages_titles)
  const active = arrayOf(obs.active_page_index)[0] ?? obs.active_page_index
  const pages = arrayOf(obs.open_pages_urls).map(
    (url, at) => `${at === active ? 'Active page' : 'Page'}: ${stringOf(titles[at])} (${stringOf(url)})`,
  )
  const tree = stringOf(obs.axtree_txt) || stringOf(obs.pruned_html)
  return toWellFormed(
    [error === '' ? '' : `Error of the last action: ${error}`, ...pages, tree].filter((part) => part !== '').join('\n'),
  )
}

/** `<think>..</think><action>```code```</action>`; some answers leave a tag or the fence out. */
function splitAction(action: string): { readonly thought: string; readonly code: string; readonly text: string } {
  const [, thought = '', rest = action] = /^\s*<think>([\s\S]*?)<\/think>([\s\S]*)$/.exec(action) ?? []
  const inner = rest.replace(/<\/?action>/g, '').trim()
  const [, before = '', code = ''] = /^([\s\S]*?)```(?:python)?([\s\S]*?)(?:```|$)/.exec(inner) ?? []
  return code.trim() === ''
    ? { thought: thought.trim(), code: '', text: inner }
    : { thought: thought.trim(), code: code.trim(), text: before.trim() }
}

/** `trajectories/webarena/results/task_20/` in the summary, else a file named `webarena__task_20.jsonl`. */
function taskOf(summary: JsonObject, file: LogFile): { readonly benchmark: string; readonly name: string } {
  const path = stringOf(summary.source_path)
    .split('/')
    .filter((part) => part !== '' && part !== 'results')
  const fromPath = path.length >= 2 ? { benchmark: path.at(-2), name: path.at(-1) } : {}
  const [, benchmark, name] = /^([^_]+)__(.+)$/.exec(fileStem(file.name)) ?? []
  return {
    benchmark: fromPath.benchmark ?? benchmark ?? 'browsergym',
    name: fromPath.name ?? name ?? fileStem(file.name),
  }
}
