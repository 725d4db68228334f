/**
 * SUPER benchmark notebooks (ReAct-SUPER and SWE-agent): markdown cells `### Query`, `### Prompt` or `### System Prompt`,
 * then per step `### Step N`, a time line, `**Thought**: ...`, `**Action (name)**:`, and a code cell whose source is the
 * command and whose outputs are the observation.
 */
import { AppError } from '../../src/errors.ts'
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import { superBenchmarkGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'
import { parsePythonLiteral } from './python-literal.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'
import { settledTerminal } from './strip-ansi.ts'

const STEP = /^### Step (\d+)\s*$/
const THOUGHT = '**Thought**:'
const ACTION = /^\*\*Action \(([^)]*)\)\*\*:/
/** A step that the harness adds when the model's context is full: its model call has failed. */
const CUT = /^(?:Total context tokens exceeded|exit_(?:context|cost|error|format))/
/** Steps of a masked variant that the benchmark ran beforehand; the agent sees them as its own. */
const BY_USER = /^(?:\[pre-executed by user\]|EXECUTED BY USER)/i
/** Answers of the harness to a response or a call that it could not carry out. */
const ERROR_OUTPUT =
  /^(?:Thought or action not provided in the correct format|Found multiple |Could not find the following lines|Invalid action|Error[: ]|ERROR:|Your (?:output|proposed edit|command was)|Traceback)/

export const superNotebook: Importer = {
  name: 'super-notebook',
  summary: 'SUPER benchmark notebooks (.ipynb with ### Query and ### Step cells; ReAct and SWE-agent)',
  detect({ document }) {
    if (!isObject(document) || !Array.isArray(document.cells)) return null
    const sources = document.cells.filter(isObject).map(sourceOf)
    const steps = sources.filter((source) => STEP.test(source)).length
    const actions = sources.filter((source) => ACTION.test(source)).length
    return steps === 0 || actions === 0
      ? null
      : { because: `a notebook with ${steps} cells ### Step N and an action each` }
  },
  async *read(file, context) {
    const { document } = file.sample
    if (!isObject(document) || !Array.isArray(document.cells))
      throw new AppError('log-malformed', `${file.name} is no notebook: it has no cells list`)
    const run = createRunBuilder()
    const header: Header = { system: '', query: '' }
    const steps: Step[] = []
    for (const [index, cell] of document.cells.entries()) {
      if (isObject(cell)) addCell(cell, { index, run, header, steps, file, context })
      else context.damage({ index, reason: 'cell is no object' })
    }
    const isCut = CUT.test(steps.at(-1)?.command ?? '')
    if (isCut) context.ignore('step of the harness')
    const calls = isCut ? steps.slice(0, -1) : steps
    for (const step of calls) addStep(run, step, file, context)
    const stem = fileStem(file.name)
    yield builtTrajectory({
      id: `super-notebook/${stem}-${file.sha256.slice(0, 8)}`,
      group: superBenchmarkGroup({ name: file.name, query: header.query }),
      format: 'super-notebook',
      system: toWellFormed(header.system),
      ...run.finish(),
      truncated: isCut || steps.at(-1)?.action !== 'submit',
      source: { file: file.name },
    })
  },
}

interface Header {
  system: string
  query: string
}

interface Step {
  readonly index: number
  readonly number: number
  thought: string | null
  action: string | null
  command: string
  output: string | null
}

interface CellContext {
  readonly index: number
  readonly run: RunBuilder
  readonly header: Header
  readonly steps: Step[]
  readonly file: LogFile
  readonly context: ReadContext
}

function sourceOf(cell: JsonObject): string {
  return typeof cell.source === 'string' ? cell.source : arrayOf(cell.source).map(stringOf).join('')
}

function addCell(cell: JsonObject, at: CellContext): void {
  const source = sourceOf(cell)
  let step = at.steps.at(-1)
  if (step !== undefined && step.output !== null && source.startsWith(THOUGHT)) {
    at.context.damage({ index: at.index, reason: `step ${step.number + 1} has no heading: it starts at its thought` })
    step = newStep(at.index, step.number + 1)
    at.steps.push(step)
  }
  const number = STEP.exec(source)?.[1]
  const action = ACTION.exec(source)?.[1]
  if (number !== undefined) {
    if (step !== undefined && Number(number) !== step.number + 1)
      at.context.damage({
        index: at.index,
        reason: `step ${number} stands where ${step.number + 1} is expected; it is kept`,
      })
    at.steps.push(newStep(at.index, Number(number)))
  } else if (step === undefined) addHeader(source, at)
  else if (cell.cell_type === 'code') {
    step.command = source
    step.output = outputOf(cell)
  } else if (source.startsWith(THOUGHT)) step.thought = source.slice(THOUGHT.length).trim()
  else if (action !== undefined) step.action = action
  else if (source.startsWith('Execution Start time')) at.context.ignore('time line')
  else at.context.damage({ index: at.index, reason: 'cell is no part of a step: neither thought, action nor code' })
}

function newStep(index: number, number: number): Step {
  return { index, number, thought: null, action: null, command: '', output: null }
}

function addHeader(source: string, at: CellContext): void {
  const [, title, body = ''] = /^### (Query|Prompt|System Prompt)\n([\s\S]*)$/.exec(source) ?? []
  const text = body.replace(/^<details>\n?/, '').replace(/\n?<\/details>\s*$/, '')
  if (title === 'Query') {
    at.header.query = text
    at.run.turn('user', text, { file: at.file.name, index: at.index })
  } else if (title === 'System Prompt') at.header.system = text
  else if (title === 'Prompt') at.header.system = systemOf(text, at)
  else at.context.ignore('cell before the first step')
}

/** `### Prompt` holds the message list as Python prints it: the system message, then the query that has a cell of its own. */
function systemOf(text: string, at: CellContext): string {
  const messages = arrayOf(parsePythonLiteral(text)?.value).filter(isObject)
  const system = messages.filter((message) => message.role === 'system').map((message) => stringOf(message.content))
  if (system.length > 0) return system.join('\n\n')
  at.context.damage({ index: at.index, reason: 'the prompt is no Python list of messages: it is kept as text' })
  return text
}

/** null: the cell was not run. Progress bars and colours are as a terminal would show them at the end. */
function outputOf(cell: JsonObject): string | null {
  const outputs = arrayOf(cell.outputs).filter(isObject)
  if (outputs.length === 0) return null
  return settledTerminal(outputs.map(outputText).join('\n'))
}

function outputText(output: JsonObject): string {
  const text = output.text ?? objectOf(output.data)['text/plain'] ?? output.traceback
  return typeof text === 'string'
    ? text
    : arrayOf(text)
        .map(stringOf)
        .join(output.traceback === text ? '\n' : '')
}

function addStep(run: RunBuilder, step: Step, file: LogFile, context: ReadContext): void {
  const { action } = step
  if (action === null)
    context.damage({ index: step.index, reason: `step ${step.number} has no action: it is kept without` })
  // SWE-agent's shell commands are logged as action None.
  const name = action === null || action === '' || action === 'None' ? '' : action
  const hasCall = name !== '' || step.command.trim() !== ''
  const thought = step.thought ?? ''
  run.call({
    actor: BY_USER.test(thought) ? 'user' : null,
    reasoning: thought,
    text: '',
    toolCalls: hasCall ? [{ id: null, name: name || 'command', arguments: step.command }] : [],
    source: { file: file.name, index: step.index },
  })
  if (step.output === null) return
  const content = toWellFormed(step.output)
  run.result({ callId: null, name: null, content, isError: ERROR_OUTPUT.test(content) })
}
