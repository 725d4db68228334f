/**
 * What the rest of the kernel has to know of a provider's message format. One folder per format implements it
 * (`format.ts`); formats.ts lists them. Pure types.
 */
import type { HistoryWriter } from './convert/neutral.ts'
import type { History, HistoryFormat, HistoryMessage, MessageRole } from './history.ts'
import type { JsonPath } from './json-pointer.ts'
import type { FormatEdits } from './repair/format-edits.ts'
import type { Rule } from './rules/rule.ts'
import type { JsonObject, Segment } from './segment.ts'

export interface ProviderFormat {
  readonly name: HistoryFormat
  /** What its messages are called in error texts, e.g. "messages", "items". */
  readonly noun: string
  /** Fields of a request body that may hold the list; the first one is the provider's own. */
  readonly listFields: readonly [string, ...string[]]
  /** Field of a message that holds its list of blocks. */
  readonly blockField: 'content' | 'parts'
  /** Field of a request body that holds the system prompt. */
  readonly systemField: string
  /** Other spellings of it that the provider's clients write. */
  readonly systemAliases?: readonly string[]
  /** `tools` of a request body is a map from name to tool; else a list. */
  readonly toolsAreMap?: true
  /**
   * A model call is one assistant message, or a run of neighbouring assistant messages (Responses items; Gemini contents
   * that a logger has split). formats.md.
   */
  readonly modelCall: 'message' | 'run'
  /** Results may answer the assistant message before them only, or any of the run of assistant messages before them. */
  readonly batch: 'message' | 'run'
  /** The provider pairs by id alone: a result may also come after a later model call. */
  readonly lateResults?: true
  /** The list goes on from what the provider holds, so nothing of it may be replaced (R5). */
  readonly continuesStored?: (request: History['request']) => boolean
  /** @throws history-malformed for a message whose role or type the format does not have */
  readonly readRole: (value: JsonObject, path: JsonPath) => MessageRole
  /**
   * The segments of a message, in its own order.
   * @param path of the message in the request
   * @throws history-malformed with the pointer of a field that has not the shape of the format
   */
  readonly readSegments: (message: HistoryMessage, path: JsonPath) => readonly Segment[]
  readonly rules: readonly Rule[]
  /** Whose documented rule says what an image costs. */
  readonly imageTokens: 'openai' | 'anthropic' | 'gemini'
  /** A user message that holds this text and nothing else, as a JSON value. */
  readonly userMessage: (text: string) => JsonObject
  /** What a repair has to know. */
  readonly edits: FormatEdits
  /** From the provider-free form. */
  readonly write: HistoryWriter
}
