/**
 * Who&When: one multi-agent run per JSON file, {question, history[{content, role|name}], mistake_*}. Every message is one
 * interaction of its agent; what a tool printed stands inside the message of the acting agent; the question is the task.
 */
import { AppError } from '../../src/errors.ts'
import { type Interaction, TRAJECTORY_SCHEMA_VERSION } from '../../src/trajectory/trajectory.ts'
import { whoAndWhenGroup } from '../groups.ts'
import { contentText } from './content-text.ts'
import { fileStem } from './file-stem.ts'
import type { Importer } from './importer.ts'
import { arrayOf, idOf, isObject, stringOf } from './json-value.ts'

export const whoAndWhen: Importer = {
  name: 'who-and-when',
  summary: 'Who&When multi-agent failure logs (JSON with question, history, mistake_agent)',
  detect({ document }) {
    if (!isObject(document) || typeof document.question !== 'string' || !Array.isArray(document.history)) return null
    const marks = ['mistake_agent', 'mistake_step', 'mistake_reason'].filter((key) => key in document)
    return marks.length === 0 ? null : { because: `an object with question, history and ${marks.join(', ')}` }
  },
  async *read(file, context) {
    const { document } = file.sample
    if (!isObject(document) || !Array.isArray(document.history))
      throw new AppError('log-malformed', `${file.name} is no Who&When run: it needs an object with a history list`)
    const interactions: Interaction[] = []
    arrayOf(document.history).forEach((message, index) => {
      if (!isObject(message) || message.content === undefined) {
        context.damage({ index, reason: 'message is no object with content' })
        return
      }
      interactions.push({
        index: interactions.length,
        actor: idOf(message.name) ?? idOf(message.role),
        reasoning: '',
        text: contentText(message.content),
        toolCalls: [],
        observations: [],
        source: { file: file.name, index },
      })
    })
    const question = stringOf(document.question)
    const mistake = interactions.find(({ source }) => source.index === stepOf(document.mistake_step))
    yield {
      schemaVersion: TRAJECTORY_SCHEMA_VERSION,
      id: `who-and-when/${fileStem(file.name)}-${file.sha256.slice(0, 8)}`,
      group: whoAndWhenGroup(question),
      domain: 'who-and-when',
      format: 'who-and-when',
      system: '',
      task: question,
      interactions,
      turns: [],
      truncated: false,
      parent: null,
      ...(mistake === undefined ? {} : { marks: [{ kind: 'mistake' as const, interaction: mistake.index }] }),
      source: { file: file.name },
    }
  },
}

/** The step is logged as text; null where it is no whole number. */
function stepOf(value: unknown): number | null {
  const step = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof step === 'number' && Number.isInteger(step) ? step : null
}
