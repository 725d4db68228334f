/**
 * Gemini CLI stream-json: init, message (pieces of one text carry delta:true), tool_use, tool_result, error, result.
 * Nothing names the model call: text and tool uses in a row are one, up to the first result or the next message of a user.
 */
import type { SourceRef, ToolCall, Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { contentText } from './content-text.ts'
import type { LogFile, ReadContext } from './importer.ts'
import { idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import { createRunBuilder } from './run-builder.ts'

interface OpenCall {
  readonly source: SourceRef
  readonly toolCalls: ToolCall[]
  text: string
}

export async function readGeminiStream(file: LogFile, context: ReadContext): Promise<Trajectory> {
  const run = createRunBuilder()
  let open: OpenCall | null = null
  let sessionId: string | null = null
  let isCut = true
  const end = (): void => {
    if (open !== null) run.call({ reasoning: '', ...open })
    open = null
  }
  const current = (source: SourceRef): OpenCall => (open ??= { source, toolCalls: [], text: '' })
  for await (const line of file.lines()) {
    const source = { file: file.name, line: line.line }
    const record = line.kind === 'record' && isObject(line.value) ? line.value : null
    if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
    else if (record === null) context.damage({ line: line.line, reason: 'record is no object' })
    else if (record.type === 'init') sessionId ??= idOf(record.session_id)
    else if (record.type === 'message' && record.role === 'assistant') {
      const call = current(source)
      const text = contentText(record.content)
      call.text += record.delta === true || call.text === '' ? text : `\n${text}`
    } else if (record.type === 'message') {
      end()
      run.turn(record.role === 'user' ? 'user' : 'context', contentText(record.content), source)
    } else if (record.type === 'tool_use')
      current(source).toolCalls.push({
        id: idOf(record.tool_id),
        name: stringOf(record.tool_name),
        arguments: textOf(record.parameters),
      })
    else if (record.type === 'tool_result') {
      end()
      pairResult(run, resultOf(record), { source, context })
    } else if (record.type === 'result') isCut = record.status !== 'success'
    else context.ignore(record.type === 'error' ? 'error record' : `unknown ${stringOf(record.type)}`)
  }
  end()
  const session = sessionId ?? file.sha256.slice(0, 16)
  return builtTrajectory({
    format: 'gemini-cli',
    id: `gemini-cli/${session}`,
    group: sessionGroup('gemini-cli', session),
    ...run.finish(),
    truncated: isCut,
    source: { file: file.name },
  })
}

function resultOf(record: JsonObject): { callId: string | null; name: null; content: string; isError: boolean } {
  const isError = record.status === 'error'
  const output = contentText(record.output)
  const content = output === '' && isError ? stringOf(objectOf(record.error).message) : output
  return { callId: idOf(record.tool_id), name: null, content, isError }
}
