/**
 * A Claude Code session as an Anthropic Messages request body: what the agent would send next. Sessions on disk are no
 * provider history; this makes one that the server can be asked about.
 */
import { readFileSync } from 'node:fs'
import { describeOpaque } from '../../src/protocol/segment.ts'
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import { indexByUuid, orderConversation } from './claude-code-chain.ts'
import { contentBlocks, isSynthetic, readSessionSync, type SessionLine } from './claude-code-session.ts'
import { parseJsonLines } from './json-lines.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

/**
 * The live chain of a session file (sub-agents and dead branches left out), after its last compaction, as
 * `{"tools": [...], "messages": [...]}`: one assistant message per model call, its results in the directly following user
 * message in the order of the log, a person's words behind them. Valid by rules A1-A8, A14 and A16 of
 * reference/protocol.md: a call without a result, a thinking block without a usable signature, blank text and trailing
 * assistant messages (they would be a prefill) are left out, repeated tool ids are renamed.
 * @param path the session's JSONL file
 */
export function claudeCodeToAnthropicMessages(path: string): string {
  const session = readSessionSync(parseJsonLines(readFileSync(path)))
  const own = session.filter((line) => !line.isSidechain)
  const chain = orderConversation(own, indexByUuid(session)).live.filter((line) => !isSynthetic(line))
  const start = Math.max(
    0,
    chain.findLastIndex((line) => line.value.isCompactSummary === true),
  )
  const messages = pairResults(toMessages(chain.slice(start)))
  while (messages.at(-1)?.role === 'assistant') messages.pop()
  if (messages[0]?.role === 'assistant')
    messages.unshift({ role: 'user', content: [{ type: 'text', text: '(the log starts here)' }] })
  return JSON.stringify({ tools: toolsOf(messages), messages }, (_, value: unknown) =>
    typeof value === 'string' ? toWellFormed(value) : value,
  )
}

/** One message per model call; neighbouring user lines are one message. Blank text is dropped. */
function toMessages(chain: readonly SessionLine[]): readonly Message[] {
  const messages: Message[] = []
  let openCall: string | null = null
  for (const line of chain) {
    const role = line.kind === 'assistant' ? 'assistant' : 'user'
    const blocks = linesBlocks(line).filter(isUsable)
    if (blocks.length === 0) continue
    const last = messages.at(-1)
    const continues = last?.role === role && (role === 'user' || line.messageId === openCall)
    if (last !== undefined && continues) last.content.push(...blocks.filter((block) => !isRewrite(last, block)))
    else messages.push({ role, content: [...blocks] })
    openCall = role === 'assistant' ? line.messageId : null
  }
  return messages
}

function linesBlocks(line: SessionLine): readonly JsonObject[] {
  const { content } = objectOf(line.value.message)
  return typeof content === 'string' ? [{ type: 'text', text: content }] : contentBlocks(line)
}

function isUsable(block: JsonObject): boolean {
  switch (block.type) {
    case 'text':
      return stringOf(block.text).trim() !== ''
    case 'thinking':
      return (
        /^[A-Za-z0-9+/=_-]{16,}$/.test(stringOf(block.signature)) && !stringOf(block.signature).includes('REDACTED')
      )
    case 'tool_use':
    case 'tool_result':
    case 'image':
    case 'document':
    case 'redacted_thinking':
      return true
    default:
      return false
  }
}

/** Some versions write a call's earlier blocks again on its next line. */
function isRewrite(message: Message, block: JsonObject): boolean {
  if (message.role === 'user') return false
  const text = JSON.stringify(block)
  return message.content.some((known) => JSON.stringify(known) === text)
}

/**
 * Keeps calls and results that answer each other: the results of an assistant message stand in the next user message.
 * Consecutive assistant messages answer as one turn; so only the last of them may call, and the others do not.
 */
function pairResults(messages: readonly Message[]): Message[] {
  const paired: Message[] = []
  const used = new Set<string>()
  messages.forEach((message, position) => {
    if (message.role === 'user') {
      const others = message.content.filter((block) => block.type !== 'tool_result')
      const previous = paired.at(-1)
      // Results were put there together with their calls.
      if (previous?.role === 'user') previous.content.push(...others)
      else if (others.length > 0) paired.push({ role: 'user', content: others })
      return
    }
    const next = messages[position + 1]
    const results = next?.role === 'user' ? next.content.filter((block) => block.type === 'tool_result') : []
    const newIds = new Map<unknown, string>()
    const content = message.content.flatMap((block): readonly JsonObject[] => {
      if (block.type !== 'tool_use') return [withKnownFields(block)]
      if (newIds.has(block.id) || !results.some((result) => result.tool_use_id === block.id)) return []
      const id = uniqueId(stringOf(block.id), used)
      newIds.set(block.id, id)
      return [{ ...withKnownFields(block), id }]
    })
    const answers = results
      .filter((result, at) => results.findIndex((other) => other.tool_use_id === result.tool_use_id) === at)
      .flatMap((result): readonly JsonObject[] => {
        const id = newIds.get(result.tool_use_id)
        return id === undefined ? [] : [{ ...withKnownFields(result), tool_use_id: id }]
      })
    // Thinking alone says nothing without the call or the text that it led to.
    if (content.every((block) => block.type === 'thinking' || block.type === 'redacted_thinking')) return
    paired.push({ role: 'assistant', content })
    if (answers.length > 0) paired.push({ role: 'user', content: answers })
  })
  return paired
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text'],
  thinking: ['type', 'thinking', 'signature'],
  tool_use: ['type', 'id', 'name', 'input'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error'],
}

/** The fields that the API takes: the log adds its own. */
function withKnownFields(block: JsonObject): JsonObject {
  const fields = FIELDS[String(block.type)]
  if (fields === undefined) return block
  const known = Object.fromEntries(
    fields.filter((field) => block[field] !== undefined).map((field) => [field, block[field]]),
  )
  if (block.type !== 'tool_result' || !Array.isArray(block.content)) return known
  const content = block.content
    .filter(isObject)
    .map((part) => (part.type === 'tool_reference' ? { type: 'text', text: describeOpaque('tool_reference') } : part))
  const spoken = content.filter((part) => part.type !== 'text' || stringOf(part.text).trim() !== '')
  return { ...known, content: spoken.length > 0 ? spoken : '' }
}

/** A14 and A3: legal characters, and no id twice in a request. */
function uniqueId(id: string, used: Set<string>): string {
  const legal = id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call'
  let unique = legal
  for (let copy = 2; used.has(unique); copy += 1) unique = `${legal}_${copy}`
  used.add(unique)
  return unique
}

/** Names of the tools used; the log does not hold their schemas. */
function toolsOf(messages: readonly Message[]): readonly JsonObject[] {
  const names = messages
    .flatMap((message) => arrayOf(message.content).filter(isObject))
    .flatMap((block) => (block.type === 'tool_use' ? [idOf(block.name) ?? 'tool'] : []))
  return [...new Set(names)].sort().map((name) => ({ name, input_schema: { type: 'object' } }))
}
