/**
 * Replays a Gemini CLI session JSONL in order. The file is an append-only log: a message id that comes again replaces its
 * message at the same place; $rewindTo takes that message and all later ones back; $set.messages replaces what the model
 * sees. A compression does that too: then the messages before it stay as the past, with the summary after them.
 */
import type { SourceRef } from '../../src/trajectory/trajectory.ts'
import { contentText } from './content-text.ts'
import type { ReadContext } from './importer.ts'
import { arrayOf, isObject, type JsonObject, stringOf } from './json-value.ts'
import { placeOf } from './pair-result.ts'

export interface GeminiEntry {
  readonly value: JsonObject
  readonly source: SourceRef
}

export interface GeminiReplay {
  message(entry: GeminiEntry): void
  rewind(id: string, source: SourceRef): void
  replace(messages: readonly JsonObject[], source: SourceRef): void
  live(): readonly GeminiEntry[]
  /** Whole paths that a rewind or a replacement has left, where they hold a model call that the live one has not. */
  abandoned(): readonly (readonly GeminiEntry[])[]
}

export function createGeminiReplay(context: ReadContext): GeminiReplay {
  let live: GeminiEntry[] = []
  let placeOfId = new Map<string, number>()
  /** Ids under which a compression repeats a message that is in the run already. */
  const aliases = new Map<string, string>()
  const abandoned: (readonly GeminiEntry[])[] = []
  const leave = (path: readonly GeminiEntry[], lost: readonly GeminiEntry[]): void => {
    if (!context.allBranches) {
      if (lost.length > 0) context.ignore('message of a dead branch', lost.length)
    } else if (lost.some(({ value }) => value.type === 'gemini')) abandoned.push(path)
  }
  const indexOf = (id: string): number => placeOfId.get(aliases.get(id) ?? id) ?? -1
  const add = (entry: GeminiEntry): void => {
    placeOfId.set(stringOf(entry.value.id), live.push(entry) - 1)
  }
  const set = (entries: readonly GeminiEntry[]): void => {
    live = []
    placeOfId = new Map()
    entries.forEach(add)
  }
  return {
    message(entry) {
      const at = indexOf(stringOf(entry.value.id))
      const known = live[at]
      if (known === undefined) add(entry)
      else live[at] = { value: entry.value, source: known.source }
    },
    rewind(id, source) {
      const at = indexOf(id)
      if (at === -1) {
        context.damage({
          ...placeOf(source),
          reason: `rewind to ${id}, which is no message of the session: nothing taken back`,
        })
        return
      }
      leave(live, live.slice(at))
      set(live.slice(0, at))
    },
    replace(messages, source) {
      if (messages.length === 0) {
        context.ignore('$set without messages')
        return
      }
      const entries = messages.map((value) => ({ value, source }))
      const known = new Map(live.map((entry) => [fingerprint(entry.value), entry]))
      if (messages.slice(0, 3).some(isSnapshot)) {
        for (const entry of entries) {
          const same = known.get(fingerprint(entry.value))
          if (same === undefined) add(entry)
          else aliases.set(stringOf(entry.value.id), stringOf(same.value.id))
        }
        return
      }
      const kept = new Set(messages.map(fingerprint))
      leave(
        live,
        live.filter(({ value }) => !kept.has(fingerprint(value))),
      )
      set(
        entries.map((entry) => {
          const same = known.get(fingerprint(entry.value))
          return same === undefined ? entry : { value: entry.value, source: same.source }
        }),
      )
    },
    live: () => live,
    abandoned: () => abandoned,
  }
}

/** Begins the history after a compression. */
export function isSnapshot(message: JsonObject): boolean {
  return message.type === 'user' && /^\s*<state_snapshot>/.test(contentText(message.content))
}

/** Copies get new ids: the same words and the same calls are the same message. */
function fingerprint(message: JsonObject): string {
  const calls = arrayOf(message.toolCalls).map((call) => (isObject(call) ? call.id : null))
  return JSON.stringify([message.type, contentText(message.content), calls])
}
