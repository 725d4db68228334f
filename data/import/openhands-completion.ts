/**
 * One model call as the OpenHands SDK logs it: {messages, tools, response, latency_sec, ...}. The request holds the run so
 * far, the response its newest interaction. For a model without native tool calls `messages` is text with the calls
 * written out and results in messages of role user; `raw_messages` then holds the run as it was.
 */
import { contentText } from './content-text.ts'
import type { LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import type { RunBuilder } from './run-builder.ts'

/** How a result begins that stands in a message of role user. */
const TEXT_RESULT = /^EXECUTION RESULT of \[([^\]\n]{1,200})\]:\n/

export function isCompletion(value: unknown): value is JsonObject {
  return isObject(value) && Array.isArray(value.messages) && 'response' in value && 'latency_sec' in value
}

export function addCompletion(
  run: RunBuilder,
  log: JsonObject,
  { file, context }: { readonly file: LogFile; readonly context: ReadContext },
): { readonly system: string; readonly truncated: boolean } {
  const messages = arrayOf(Array.isArray(log.raw_messages) ? log.raw_messages : log.messages)
  const system: string[] = []
  messages.forEach((message, index) => {
    const source = { file: file.name, index }
    if (!isObject(message)) {
      context.damage({ index, reason: 'message is no object' })
      return
    }
    const content = contentText(message.content)
    if (message.role === 'system') system.push(content)
    else if (message.role === 'assistant') run.call({ ...modelParts(message), source })
    else if (message.role === 'tool') {
      const result = { callId: idOf(message.tool_call_id), name: idOf(message.name), content, isError: false }
      pairResult(run, result, { source, context })
    } else if (run.count > 0 && TEXT_RESULT.test(content))
      pairResult(run, { callId: null, name: null, content, isError: false }, { source, context })
    else run.turn('user', content, source)
  })
  const choice = objectOf(arrayOf(objectOf(log.response).choices)[0])
  if (isObject(choice.message))
    run.call({ ...modelParts(choice.message), source: { file: file.name, index: messages.length } })
  else context.ignore('failed model call')
  return { system: system.join('\n\n'), truncated: choice.finish_reason === 'length' }
}

function modelParts(message: JsonObject) {
  return {
    reasoning: stringOf(message.reasoning_content),
    text: contentText(message.content),
    toolCalls: arrayOf(message.tool_calls)
      .filter(isObject)
      .map((call) => ({
        id: idOf(call.id),
        name: stringOf(objectOf(call.function).name),
        arguments: textOf(objectOf(call.function).arguments),
      })),
  }
}
