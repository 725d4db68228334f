/**
 * What a repair has to know of a provider's format beside its rules: where ids stand, how a call is closed, what may be
 * taken out. Each format's folder has one file that says so (`edits.ts`). Pure types.
 */
import type { JsonPath } from '../json-pointer.ts'
import type { CallSegment, JsonObject } from '../segment.ts'

/**
 * `drop` takes the place out; `unbind` does so for reasoning, and takes its `id` from anything else; `wrap` gives what a
 * result says the form that the format asks for.
 */
export type Fix = 'drop' | 'unbind' | 'wrap'

export interface FormatEdits {
  /** Steps to the id inside the value of a call, which is what its segment's pointer points at. */
  readonly callId: (value: JsonObject) => JsonPath
  /** Steps to its arguments where these are a JSON value, null where they are a string. */
  readonly callArguments: (value: JsonObject) => JsonPath | null
  /** Steps to the id of its call inside the value of a result. */
  readonly resultId: (value: JsonObject) => JsonPath
  /** Steps to what a result says. */
  readonly resultContent: (value: JsonObject) => JsonPath
  readonly ids: {
    readonly pattern: RegExp
    readonly maxChars: number
    /** `request`: one id for one call of the whole request. `batch`: an id may come again in a later batch. */
    readonly uniqueIn: 'request' | 'batch'
  }
  /**
   * Where results stand. `next`: directly after their batch; `one-message`: directly after it and in one message together;
   * `anywhere`: somewhere after their call.
   */
  readonly results: 'next' | 'one-message' | 'anywhere'
  /** `user`: a history that begins with anything else is refused. */
  readonly firstRole: 'user' | 'any'
  /** What may be done at the pointer of a violation, by the rule's id. */
  readonly fixes: Readonly<Record<string, Fix>>
  /**
   * Of JSON text that a result holds under `key`: key and text in the form that the format asks for; null where it is not
   * known how.
   */
  readonly wrapContent?: (key: string, raw: string) => { readonly key: string; readonly text: string } | null
  /** Neighbouring assistant messages with calls are refused: they are one turn, so they become one message. */
  readonly mergesCalls?: true
  /** The other calls of its message are refused without this one: it is closed, never dropped (Gemini's signature). */
  readonly holdsTheOthers?: (value: JsonObject) => boolean
  /**
   * A whole message that answers a call with `text`, marked as an error where the format has a mark, and nothing else.
   * @param value the call's own JSON value
   */
  readonly closeCall: (call: CallSegment, value: JsonObject, text: string) => JsonObject
}
