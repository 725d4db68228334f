/**
 * LangGraph thread state as its server returns it: {values: {messages[]}, next, checkpoint{thread_id}, metadata}. Messages
 * are LangChain's, of type human, ai, tool, system.
 */
import { AppError } from '../../src/errors.ts'
import { sessionGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { contentText } from './content-text.ts'
import { fileStem } from './file-stem.ts'
import type { Importer } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf } from './json-value.ts'
import { addLangChainMessage, langChainMessage, wasStopped } from './langchain-messages.ts'
import { createRunBuilder } from './run-builder.ts'

export const langGraph: Importer = {
  name: 'langgraph',
  summary: 'LangGraph thread state (JSON with values.messages of type human, ai, tool)',
  detect({ document }) {
    const messages = messagesOf(document).filter((message) => langChainMessage(message) !== null).length
    return messages === 0 ? null : { because: `values.messages with ${messages} messages of type human, ai or tool` }
  },
  async *read(file, context) {
    const { document } = file.sample
    const messages = messagesOf(document)
    if (!isObject(document) || messages.length === 0)
      throw new AppError('log-malformed', `${file.name} is no LangGraph state: it has no values.messages`)
    const run = createRunBuilder()
    const system: string[] = []
    let truncated = false
    for (const [index, value] of messages.entries()) {
      const source = { file: file.name, index }
      const message = langChainMessage(value)
      if (message === null) context.damage({ index, reason: 'message has no known type, or no content' })
      // Only what stands before everything else is the prompt: later system messages are put in by middleware.
      else if (message.kind === 'system' && index > 0) run.turn('context', contentText(message.fields.content), source)
      else addLangChainMessage(run, message, { source, context, system })
      if (message?.kind === 'ai') truncated = wasStopped(message)
    }
    const thread = threadOf(document) ?? fileStem(file.name).replace(/\.thread$/, '')
    yield builtTrajectory({
      id: `langgraph/${thread}`,
      group: sessionGroup('langgraph', thread),
      format: 'langgraph',
      system: system.join('\n\n'),
      ...run.finish(),
      truncated,
      source: { file: file.name },
    })
  },
}

function messagesOf(document: unknown): readonly unknown[] {
  return isObject(document) && isObject(document.values) ? arrayOf(document.values.messages) : []
}

function threadOf(document: JsonObject): string | null {
  return (
    idOf(document.thread_id) ??
    idOf(objectOf(document.checkpoint).thread_id) ??
    idOf(objectOf(document.metadata).thread_id)
  )
}
