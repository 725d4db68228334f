/**
 * Checks of what would be sent: pairing, roles, order, contents. They read the rendered JSON themselves (tool-events.ts).
 */
import type { History, JsonValue } from '../../protocol/history.ts'
import { renderMessages } from '../../protocol/render-messages.ts'
import { isObject, type JsonObject } from '../../protocol/segment.ts'
import type { CaseResult, Check } from './case-result.ts'
import { type ToolEvent, toolEvents } from './tool-events.ts'

/** What was rendered; a case that asks about it and rendered nothing fails. */
function sent(result: CaseResult): History {
  if (result.rendered === null) throw new Error('nothing was rendered')
  return result.rendered
}

function values(result: CaseResult): readonly JsonObject[] {
  return sent(result).messages.map((message) => message.value)
}

function events(result: CaseResult): readonly ToolEvent[] {
  return toolEvents(sent(result).format, values(result))
}

/** Results of which no call of that id is open before them, and calls that stay open. */
function unpaired(result: CaseResult): { readonly orphans: readonly string[]; readonly open: readonly string[] } {
  const open: string[] = []
  const orphans: string[] = []
  for (const event of events(result)) {
    if (event.kind === 'call') open.push(event.id)
    if (event.kind !== 'result') continue
    const at = open.lastIndexOf(event.id)
    if (at === -1) orphans.push(event.id)
    else open.splice(at, 1)
  }
  return { orphans, open }
}

const listing = (what: string, found: readonly string[]): string | null =>
  found.length === 0 ? null : `${what}: ${found.join(', ')}`

/** Role of a message, with `developer` as system and `model` as assistant; an item without role by its type. */
function roleOf(message: JsonObject): string {
  const role = message.role ?? (String(message.type ?? '').endsWith('_output') ? 'tool' : 'assistant')
  return role === 'developer' ? 'system' : role === 'model' ? 'assistant' : String(role)
}

const conversation = (result: CaseResult): readonly JsonObject[] =>
  values(result).filter((message) => roleOf(message) !== 'system')

/** Whether any text in a value stands there literally: the rendered JSON with its escapes undone. */
function holdsText(value: JsonValue, text: string): boolean {
  if (typeof value === 'string') return value.includes(text)
  if (Array.isArray(value)) return value.some((element: JsonValue) => holdsText(element, text))
  return isObject(value) && Object.values(value).some((member) => holdsText(member, text))
}

function allTexts(result: CaseResult): JsonValue {
  return result.rendered === null ? result.output : values(result).map((value) => value as JsonValue)
}

export const PROTOCOL_CHECKS: Readonly<Record<string, Check>> = {
  noOrphanToolResults: (result) => listing('results without a call', unpaired(result).orphans),
  noUnansweredToolUse: (result) => listing('calls without a result', unpaired(result).open),
  everyFunctionCallHasOutput: (result) => listing('calls without an output', unpaired(result).open),
  firstRole: (result, expected) => {
    const [first] = conversation(result)
    const role = first === undefined ? 'none' : roleOf(first)
    return role === expected ? null : `the first role is ${role}`
  },
  lastRole: (result, expected) => {
    const last = values(result).at(-1)
    const role = last === undefined ? 'none' : roleOf(last)
    return role === expected ? null : `the last role is ${role}`
  },
  notEmpty: (result) => (values(result).length > 0 ? null : 'nothing is left'),
  mustContainText: (result, expected) =>
    listing(
      'missing texts',
      texts(expected).filter((text) => !holdsText(allTexts(result), text)),
    ),
  mustNotContainText: (result, expected) =>
    listing(
      'texts that must not be there',
      texts(expected).filter((text) => holdsText(allTexts(result), text)),
    ),
  order: (result, expected) => checkOrder(events(result), texts(expected)),
  relativeOrderPreserved: checkRelativeOrder,
  lastMessageIs: (result, expected) => {
    const last = values(result).at(-1)
    const wanted = isObject(expected) ? Object.entries(expected) : []
    const wrong = wanted.filter(([key, value]) => JSON.stringify(last?.[key]) !== JSON.stringify(value))
    return listing(
      'fields of the last message differ',
      wrong.map(([key]) => key),
    )
  },
  renderedToolIdsUnique: (result) => {
    const ids = events(result).flatMap((event) => (event.kind === 'call' ? [event.id] : []))
    return listing(
      'ids used twice',
      ids.filter((id, number) => ids.indexOf(id) !== number),
    )
  },
  keptToolUseIds: (result, expected) => {
    const ids = events(result).flatMap((event) => (event.kind === 'call' ? [event.id] : []))
    return listing(
      'calls that are gone',
      texts(expected).filter((id) => !ids.includes(id)),
    )
  },
  noEmptyContent: (result) =>
    listing(
      'messages without content',
      values(result).flatMap((value, number) => (isEmpty(value) ? [String(number)] : [])),
    ),
  noEmptyTextBlocks: (result) =>
    listing(
      'messages with an empty text block',
      values(result).flatMap((value, number) =>
        blocks(value).some((block) => block.type === 'text' && String(block.text ?? '').trim() === '')
          ? [String(number)]
          : [],
      ),
    ),
  noToolBlocksIfNoTools: (result) => {
    const tools = result.given.params.tools
    if (Array.isArray(tools) && tools.length > 0) return null
    return listing(
      'tool blocks',
      events(result).flatMap((event) => (event.kind === 'text' ? [] : [event.id])),
    )
  },
  wellFormedStrings: (result) => {
    const text = JSON.stringify(allTexts(result))
    return /\\ud[89a-f][0-9a-f]{2}/i.test(text) ? 'a string holds half of a surrogate pair' : null
  },
  userTextPreserved: (result) => {
    const said = result.input === null ? [] : toolEvents(result.input.history.format, rawValues(result.input.history))
    const lost = said.flatMap((event) =>
      event.kind === 'text' && event.role === 'user' && !holdsText(allTexts(result), event.text) ? [event.text] : [],
    )
    return listing('lost words of the user', lost)
  },
}

const rawValues = (history: History): readonly JsonValue[] => history.messages.map((message) => message.value)

function texts(value: JsonValue): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)]
}

function blocks(message: JsonObject): readonly JsonObject[] {
  const content = message.content ?? message.parts
  return Array.isArray(content) ? content.filter((block) => isObject(block)) : []
}

function isEmpty(message: JsonObject): boolean {
  const content = message.content ?? message.parts
  const calls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0
  if (calls || (content === undefined && message.type !== undefined)) return false
  return content === '' || content === null || content === undefined || (Array.isArray(content) && content.length === 0)
}

/** `ID` is a call, `tool:ID` its result, `ROLE:TEXT` a text. */
function checkOrder(found: readonly ToolEvent[], wanted: readonly string[]): string | null {
  let from = 0
  for (const entry of wanted) {
    const at = found.findIndex((event, number) => number >= from && isEntry(event, entry))
    if (at === -1) return `${entry} does not follow what stands before it`
    from = at + 1
  }
  return null
}

function isEntry(event: ToolEvent, entry: string): boolean {
  if (event.kind === 'call') return event.id === entry || `call:${event.id}` === entry
  if (event.kind === 'result') return `tool:${event.id}` === entry
  return `${event.role}:${event.text}` === entry
}

/** What of the input is still there stands in the order of the input. */
function checkRelativeOrder(result: CaseResult): string | null {
  if (result.input === null) return 'the input is no history'
  const key = (event: ToolEvent): string =>
    event.kind === 'text' ? `${event.role}:${event.text}` : `${event.kind}:${event.id}`
  const before = toolEvents(result.input.history.format, rawValues(result.input.history)).map(key)
  let from = -1
  for (const entry of events(result).map(key)) {
    const at = before.indexOf(entry, from + 1)
    if (at !== -1) from = at
    else if (before.includes(entry)) return `${entry} has moved`
  }
  return null
}

export function renderedText(history: History): string {
  return renderMessages(history.messages)
}
