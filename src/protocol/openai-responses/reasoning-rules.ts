/**
 * R3 and R4: reasoning items, and the items they led to. Pure.
 */
import type { History, HistoryMessage } from '../history.ts'
import { jsonPointer } from '../json-pointer.ts'
import { advisoryIf, type Finding, quote, type Rule, type RuleInput } from '../rules/rule.ts'
import { itemKind, itemType } from './item-kind.ts'

const ASK = '{"type":"message","role":"user","content":"go"}'
const reasoning = (id: string, more = ''): string => `{"type":"reasoning","id":"${id}","summary":[]${more}}`
const call = (id: string): string =>
  `{"type":"function_call","id":"fc_${id}","call_id":"${id}","name":"ls","arguments":"{}"}`
const output = (id: string): string => `{"type":"function_call_output","call_id":"${id}","output":"ok"}`
const list = (...items: readonly string[]): string => `[${items.join(',')}]`
const stateless = (...items: readonly string[]): string => `{"store":false,"input":${list(...items)}}`

export const REASONING_RULES: readonly Rule[] = [
  {
    id: 'R3',
    format: 'openai-responses',
    sentence:
      'A reasoning item is directly followed by the item it led to, and an item that is sent with its id follows its reasoning item.',
    check: (input) => [...checkFollowed(input), ...checkLedTo(input)],
    examples: {
      violating: list(ASK, reasoning('rs_1'), ASK),
      valid: list(ASK, reasoning('rs_1'), call('a'), output('a')),
    },
  },
  {
    id: 'R4',
    format: 'openai-responses',
    sentence:
      'In a request with store:false reasoning items carry their encrypted_content, and nothing is referenced by id alone.',
    check: checkResolvable,
    examples: {
      violating: stateless(ASK, reasoning('rs_1'), call('a'), output('a')),
      valid: stateless(ASK, reasoning('rs_1', ',"encrypted_content":"eA=="'), call('a'), output('a')),
    },
  },
]

/** One report says that this is not enforced with store:false, hence advisory there. */
function checkFollowed({ history }: RuleInput): readonly Finding[] {
  return history.messages.flatMap(({ value }, number): readonly Finding[] => {
    if (!isReasoning(value) || leads(history.messages, number)) return []
    const pointer = jsonPointer([history.listField, number])
    const message = `reasoning ${quote(idOf(value))} is not followed by the item it led to`
    return [advisoryIf(isStateless(history), { pointer, message })]
  })
}

/** More reasoning, and a compaction in the middle of a response, may stand between. */
function leads(messages: readonly HistoryMessage[], number: number): boolean {
  const next = messages.slice(number + 1).find(({ value }) => !isReasoning(value) && itemKind(value) !== 'compaction')
  return next?.role === 'assistant' || (next !== undefined && isUnseen(next))
}

/**
 * A list does not tell whether an item's model reasons, so this goes by the items of the same type that do follow a
 * reasoning item, and is advisory: a model that reasons may still answer without.
 */
function checkLedTo({ history }: RuleInput): readonly Finding[] {
  const items = history.messages.map(({ value }, number) => ({
    number,
    type: itemType(value),
    id: idOf(value),
    reasoned: isReasoned(history.messages, number),
    generated:
      history.messages[number]?.role === 'assistant' && itemKind(value) !== 'compaction' && !isReasoning(value),
  }))
  const withReasoning = new Set(items.filter((item) => item.generated && item.reasoned).map(({ type }) => type))
  return items
    .filter((item) => item.generated && !item.reasoned && item.id !== null && withReasoning.has(item.type))
    .map(({ number, id }) => ({
      pointer: jsonPointer([history.listField, number]),
      message: `${quote(id)} is sent with its id but without its reasoning item: send both, or leave the id out`,
      advisory: true,
    }))
}

/** A reasoning item stands before it in its run, or something that may be one. */
function isReasoned(messages: readonly HistoryMessage[], number: number): boolean {
  for (let at = number - 1; at >= 0; at--) {
    const message = messages[at]
    if (message === undefined) return false
    if (isReasoning(message.value) || isUnseen(message)) return true
    if (message.role !== 'assistant') return false
  }
  return false
}

function checkResolvable({ history }: RuleInput): readonly Finding[] {
  if (!isStateless(history)) return []
  return history.messages.flatMap(({ value }, number): readonly Finding[] => {
    const id = idOf(value)
    const isReference = itemType(value) === 'item_reference'
    const isBare = isReasoning(value) && !isFilled(value.encrypted_content) && !isFilled(value.content)
    if (id === null || !(isReference || isBare)) return []
    const pointer = jsonPointer([history.listField, number])
    const message = `${quote(id)} was not stored, and ${isReference ? 'a reference' : 'reasoning without encrypted_content'} holds nothing but its id`
    return [{ pointer, message, advisory: true }]
  })
}

function isStateless({ request }: History): boolean {
  return request.store === false
}

function isReasoning(value: HistoryMessage['value']): boolean {
  return itemKind(value) === 'reasoning'
}

/** A reference or an item of an unknown type. */
function isUnseen(message: HistoryMessage): boolean {
  return message.role === 'opaque' && itemType(message.value) !== 'compaction_trigger'
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0
}

function idOf(value: HistoryMessage['value']): string | null {
  return typeof value.id === 'string' && value.id !== '' ? value.id : null
}
