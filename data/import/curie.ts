/**
 * Curie text logs: logger lines `<time> - logger - <file>.py - INFO - <message>`, a message may go on over further lines.
 * `Round Cost` marks a model call; the banner `<><> ROLE <><>` behind it names the agent, then come its tool calls, their
 * arguments and its words. Of what the tools returned only tool.py's own lines are logged. Streams the file.
 */
import { AppError } from '../../src/errors.ts'
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import { sessionGroup, taskGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { type LoggerRecord, readLoggerRecords } from './curie-records.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { isObject, stringOf } from './json-value.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'
import { stripAnsi } from './strip-ansi.ts'
import { headLines, readLineBatches } from './text-lines.ts'

const ROUND_COST = /^\S* ?Round Cost: \$/
const BANNER = /^(?:<>)+ (.+?) (?:<>)+$/
const TOOL_CALLS = 'Tool calls: '
const ARGUMENTS = /^Message(?: received)?: /
const WORDS = /^(?:Concise response|\S+ Concluder response): ?/
const EVENT = 'Event value: '
/** The scheduler's words when the run's steps are used up. */
const OUT_OF_STEPS = 'Not enough remaining steps'

export const curie: Importer = {
  name: 'curie',
  summary: 'Curie text logs (.log with Round Cost lines and role banners)',
  detect({ head }) {
    const lines = headLines(head).map(stripAnsi)
    const costs = lines.filter((line) => line.includes(' - logger - model.py') && line.includes('Round Cost: $')).length
    const banners = lines.filter((line) => line.includes(' - logger - base_node.py') && line.includes('<><>')).length
    return costs === 0 || banners === 0
      ? null
      : { because: `${costs} Round Cost lines and ${banners} role banners in its head` }
  },
  async *read(file, context) {
    const log: Log = { run: createRunBuilder(), file, context, call: null, question: '', isCut: false, records: 0 }
    const report = (line: number, reason: string): void => context.damage({ line, reason })
    for await (const record of readLoggerRecords(readLineBatches(file.path), report)) addRecord(log, record)
    flush(log)
    if (log.records === 0) throw new AppError('log-malformed', `${file.name} is no Curie log: it has no logger line`)
    const built = log.run.finish()
    const stem = fileStem(file.name)
    const task = toWellFormed(log.question)
    yield builtTrajectory({
      id: `curie/${stem}-${file.sha256.slice(0, 8)}`,
      group: task === '' ? sessionGroup('curie', stem) : taskGroup('curie', task),
      format: 'curie',
      ...built,
      task,
      truncated: log.isCut,
      source: { file: file.name },
    })
  },
}

/** A model call while its lines come in: the builder gets it when the next one starts. */
interface OpenCall {
  readonly line: number
  role: string | null
  readonly names: string[]
  readonly arguments: string[]
  words: string
  readonly toolLines: string[]
}

interface Log {
  readonly run: RunBuilder
  readonly file: LogFile
  readonly context: ReadContext
  call: OpenCall | null
  question: string
  isCut: boolean
  records: number
}

function addRecord(log: Log, record: LoggerRecord): void {
  log.records += 1
  if (ROUND_COST.test(record.message)) start(log, record.line)
  else if (record.file === 'base_node.py') addNodeRecord(log, record)
  else if (record.file === 'tool.py') addToolRecord(log, record)
  else if (record.message.startsWith(EVENT)) addEvent(log, record)
  else {
    if (record.message.startsWith('Plan is: ')) log.question = log.question || questionOf(record.message)
    if (record.message.includes(OUT_OF_STEPS)) log.isCut = true
    log.context.ignore(`line of ${record.file}`)
  }
}

function start(log: Log, line: number): OpenCall {
  flush(log)
  log.call = { line, role: null, names: [], arguments: [], words: '', toolLines: [] }
  return log.call
}

function addNodeRecord(log: Log, { line, message }: LoggerRecord): void {
  const role = BANNER.exec(message)?.[1]
  if (role !== undefined) {
    if (log.call === null || log.call.role !== null) {
      log.context.damage({ line, reason: 'role banner without a Round Cost line: it counts as a model call' })
      start(log, line)
    }
    if (log.call !== null) log.call.role = role.replace(/^\W+|\W+$/g, '')
  } else if (log.call === null) log.context.damage({ line, reason: 'line of a node before any model call' })
  else if (message.startsWith(TOOL_CALLS)) log.call.names.push(...message.slice(TOOL_CALLS.length).split(/,\s*/))
  else if (ARGUMENTS.test(message)) log.call.arguments.push(message.replace(ARGUMENTS, ''))
  else if (WORDS.test(message))
    log.call.words = [log.call.words, message.replace(WORDS, '')].filter((text) => text !== '').join('\n')
  else log.context.ignore('line of base_node.py')
}

function addToolRecord(log: Log, { message }: LoggerRecord): void {
  if (log.call === null) log.context.ignore('line of tool.py')
  else log.call.toolLines.push(message)
}

/**
 * What a node hands to the next one. Its own last words are logged in full here and shortened at the node; anything else
 * was put together by the program for the next agent.
 */
function addEvent(log: Log, { line, message }: LoggerRecord): void {
  const text = message.slice(EVENT.length)
  const opening = log.call?.words.slice(0, 200) ?? ''
  if (log.call !== null && opening !== '' && text.startsWith(opening)) {
    if (text.length > log.call.words.length) log.call.words = text
    return
  }
  flush(log)
  log.run.turn('context', toWellFormed(text), { file: log.file.name, line })
}

function flush(log: Log): void {
  const { call } = log
  log.call = null
  if (call === null) return
  const index = log.run.call({
    actor: call.role,
    reasoning: '',
    text: call.words.trim(),
    toolCalls: call.names.map((name, at) => ({ id: null, name, arguments: argumentsOf(call, at) })),
    source: { file: log.file.name, line: call.line },
  })
  const content = call.toolLines.join('\n')
  if (content === '') return
  log.run.result(
    { callId: null, name: null, content: toWellFormed(content), isError: /^(?:Error|Traceback)/m.test(content) },
    index,
  )
}

/** One record of arguments per call, in order; all of them at the last call where they are more. */
function argumentsOf(call: OpenCall, at: number): string {
  return at === call.names.length - 1 ? call.arguments.slice(at).join('\n') : (call.arguments[at] ?? '')
}

/** `Plan is: {... "question": "..."}`: the only place where the log holds what a person asked for. */
function questionOf(message: string): string {
  try {
    const plan: unknown = JSON.parse(message.slice('Plan is: '.length))
    return isObject(plan) ? stringOf(plan.question) : ''
  } catch (cause) {
    // A plan that is no JSON names no question.
    if (cause instanceof SyntaxError) return ''
    throw cause
  }
}
