/**
 * One sample of an inspect_ai log -> a run. `messages` is the conversation; `events` also holds model calls that failed and
 * were tried again, and compactions, so it is looked at for these alone.
 */
import type { SourceRef, ToolCall, Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { contentText } from './content-text.ts'
import type { ReadContext } from './importer.ts'
import { inputOf, outputOf, resolveAttachments } from './inspect-ai-pool.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

/** A person wrote it, or the data set did; what an agent's scaffold adds ("please continue") has no source. */
const USER_SOURCES = new Set(['input', 'operator'])
const LENGTH_STOPS = new Set(['max_tokens', 'model_length'])

export interface SamplePlace {
  readonly file: string
  readonly evaluation: string
  readonly task: string
  readonly context: ReadContext
  /** Position among the samples. */
  readonly index: number
}

export function readInspectSample(raw: JsonObject, place: SamplePlace): Trajectory {
  const { file, evaluation, task, index } = place
  // Entries name the sample by their index, and the message in words.
  const context: ReadContext = {
    ...place.context,
    damage: ({ index: message, reason }) =>
      place.context.damage({ index, reason: message === undefined ? reason : `message ${message}: ${reason}` }),
  }
  const events = arrayOf(raw.events ?? objectOf(raw.transcript).events).filter(isObject)
  const attachments = objectOf(raw.attachments ?? objectOf(raw.transcript).content)
  const resolve = (value: unknown): unknown =>
    resolveAttachments(value, attachments, (hash) =>
      context.damage({ reason: `attachment ${hash} is missing: its reference stands for it` }),
    )
  const messages = arrayOf(resolve(conversation(raw, events)))
  const run = createRunBuilder()
  const system = addMessages(run, messages, { file, context, summaries: summaries(raw, events, resolve) })
  const failed = events.filter((event) => event.event === 'model' && idOf(event.error) !== null).length
  if (failed > 0) context.ignore('failed model call', failed)
  const id = textOf(raw.id) || String(index)
  const output = objectOf(arrayOf(objectOf(raw.output).choices)[0])
  return builtTrajectory({
    format: 'inspect-ai',
    id: `inspect-ai/${evaluation}/${id}.epoch${textOf(raw.epoch) || '1'}`,
    group: sessionGroup('inspect-ai', `${task}/${id}`),
    system,
    ...run.finish(),
    truncated: isObject(raw.limit) || isObject(raw.error) || LENGTH_STOPS.has(stringOf(output.stop_reason)),
    source: { file, index },
  })
}

/** A sample that was cut may have no messages: the last model call's input and output hold them. */
function conversation(sample: JsonObject, events: readonly JsonObject[]): readonly unknown[] {
  const messages = arrayOf(sample.messages)
  if (messages.length > 0) return messages
  const last = events.findLast((event) => event.event === 'model' && idOf(event.error) === null)
  return last === undefined ? [] : [...inputOf(last, sample), ...outputOf(last)]
}

/**
 * Summaries of compactions that the messages do not hold, by the id of the answer to the first call that saw each: a
 * compaction changes what the model is given, not the conversation.
 */
function summaries(
  sample: JsonObject,
  events: readonly JsonObject[],
  resolve: (value: unknown) => unknown,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  let isPending = false
  for (const event of events) {
    if (event.event === 'compaction') isPending = true
    else if (event.event === 'model' && isPending && idOf(event.error) === null) {
      isPending = false
      const summary = inputOf(event, sample).filter(isObject).findLast(isSummary)
      const [answer] = outputOf(event)
      if (summary !== undefined && isObject(answer) && typeof answer.id === 'string')
        found.set(answer.id, contentText(resolve(summary.content)))
    }
  }
  return found
}

function isSummary(message: JsonObject): boolean {
  return 'summary' in objectOf(message.metadata)
}

function addMessages(
  run: RunBuilder,
  messages: readonly unknown[],
  {
    file,
    context,
    summaries,
  }: {
    readonly file: string
    readonly context: ReadContext
    readonly summaries: ReadonlyMap<string, string>
  },
): string {
  const system: string[] = []
  const summed = new Set<string>()
  messages.forEach((message, index) => {
    const source = { file, index }
    if (!isObject(message)) {
      context.damage({ index, reason: 'is no object' })
      return
    }
    const text = contentText(message.content)
    if (message.role === 'assistant') {
      const summary = summaries.get(stringOf(message.id))
      if (summary !== undefined && !summed.has(summary)) run.turn('summary', summary, source)
      addModelCall(run, message, { source, context })
    } else if (message.role === 'tool') {
      const error = objectOf(message.error)
      const result = {
        callId: idOf(message.tool_call_id),
        name: idOf(message.function),
        content: text === '' ? stringOf(error.message) : text,
        isError: isObject(message.error),
      }
      pairResult(run, result, { source, context })
    } else if (message.role === 'system' && run.count === 0) system.push(text)
    else if (isSummary(message)) {
      summed.add(text)
      run.turn('summary', text, source)
    } else run.turn(isPersons(message, run.count) ? 'user' : 'context', text, source)
  })
  return system.join('\n\n')
}

function isPersons(message: JsonObject, before: number): boolean {
  if (message.role !== 'user') return false
  return USER_SOURCES.has(stringOf(message.source)) || before === 0
}

function addModelCall(
  run: RunBuilder,
  message: JsonObject,
  place: { readonly source: SourceRef; readonly context: ReadContext },
): void {
  const blocks = arrayOf(message.content)
  const own = blocks.filter((block) => !(isObject(block) && (block.type === 'reasoning' || block.type === 'tool_use')))
  const served = blocks.filter(isObject).filter((block) => block.type === 'tool_use')
  const toolCalls: ToolCall[] = arrayOf(message.tool_calls)
    .filter(isObject)
    .map((call) => ({ id: idOf(call.id), name: stringOf(call.function), arguments: textOf(call.arguments) }))
  const index = run.call({
    reasoning: blocks
      .filter(isObject)
      .map(reasoningOf)
      .filter((text) => text !== '')
      .join('\n'),
    text: typeof message.content === 'string' ? message.content : contentText(own),
    toolCalls: [
      ...served.map((block) => ({
        id: idOf(block.id),
        name: stringOf(block.name),
        arguments: textOf(block.arguments),
      })),
      ...toolCalls,
    ],
    source: place.source,
  })
  // The provider ran these itself: call and result are one block.
  for (const block of served)
    pairResult(
      run,
      {
        callId: idOf(block.id),
        name: idOf(block.name),
        content: textOf(block.result) || textOf(block.error),
        isError: idOf(block.error) !== null,
      },
      { ...place, of: index },
    )
}

/** Redacted reasoning is ciphertext: only its summary says something. */
function reasoningOf(block: JsonObject): string {
  if (block.type !== 'reasoning') return ''
  return block.redacted === true ? stringOf(block.summary) : stringOf(block.reasoning) || stringOf(block.summary)
}
