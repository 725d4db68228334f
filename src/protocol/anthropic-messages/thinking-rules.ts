/**
 * A9 and A13: thinking and compaction blocks of Anthropic Messages, as far as a request shows them. A10 (thinking is bound
 * to what came before) shows in no single request: thinking-binding.ts keeps it when a history is edited. A11 is the way
 * out of A10, A12 is silent. Pure.
 */
import type { JsonValue } from '../history.ts'
import { jsonPointer } from '../json-pointer.ts'
import { advisoryIf, type Finding, type Rule, type RuleInput } from '../rules/rule.ts'
import { isObject } from '../segment.ts'

const ASK = '{"role":"user","content":"go"}'
const say = (...blocks: readonly string[]): string => `{"role":"assistant","content":[${blocks.join(',')}]}`
const list = (...messages: readonly string[]): string => `[${messages.join(',')}]`
const TEXT = '{"type":"text","text":"yes"}'
const thinking = (more: string): string => `{"type":"thinking","thinking":"hm"${more}}`
const compaction = (content: string): string => `{"type":"compaction","content":${content}}`

export const ANTHROPIC_THINKING_RULES: readonly Rule[] = [
  {
    id: 'A9',
    format: 'anthropic-messages',
    sentence:
      'Thinking goes back as it came: with its signature (redacted: its data), in an assistant message, before what it led to.',
    check: checkThinking,
    examples: {
      violating: list(ASK, say(thinking(''), TEXT), ASK),
      valid: list(ASK, say(thinking(',"signature":"c2ln"'), TEXT), ASK),
    },
  },
  {
    id: 'A13',
    format: 'anthropic-messages',
    sentence:
      'One compaction block with content at most, in front of everything else, not empty and not in a system message.',
    check: checkCompaction,
    examples: {
      violating: list(ASK, say(compaction('""'), TEXT), ASK),
      valid: list(say(compaction('"earlier work"'), TEXT), ASK),
    },
  },
]

function checkThinking({ history, turns }: RuleInput): readonly Finding[] {
  const unsigned = history.messages.flatMap(({ role, blocks }, number) =>
    (blocks ?? []).flatMap(({ value }, block): readonly Finding[] => {
      const field = signatureField(value)
      if (field === null) return []
      const pointer = jsonPointer([history.listField, number, 'content', block])
      if (role !== 'assistant') return [{ pointer, message: 'thinking outside an assistant message' }]
      const signature = isObject(value) ? value[field] : null
      if (typeof signature === 'string' && signature !== '') return []
      return [{ pointer, message: `thinking without its ${field}: send it as it came, or leave it out` }]
    }),
  )
  const known = new Set(unsigned.map(({ pointer }) => pointer))
  const last = turns.flatMap(({ role, segments }): readonly Finding[] => {
    const end = segments.at(-1)
    if (role !== 'assistant' || end?.kind !== 'reasoning' || known.has(end.pointer)) return []
    return [
      { pointer: end.pointer, message: 'thinking that nothing follows: the last block of a turn may not be thinking' },
    ]
  })
  return [...unsigned, ...last]
}

function signatureField(value: JsonValue): 'signature' | 'data' | null {
  if (!isObject(value)) return null
  if (value.type === 'thinking') return 'signature'
  return value.type === 'redacted_thinking' ? 'data' : null
}

/**
 * A block without content (null) is allowed anywhere. What stands before the one with content is ignored by hosts that
 * still take it there, hence advisory.
 */
function checkCompaction({ history }: RuleInput): readonly Finding[] {
  const findings: Finding[] = []
  let isFirst = true
  let found = false
  history.messages.forEach(({ role, blocks }, number) => {
    for (const [block, { value }] of (blocks ?? []).entries()) {
      const pointer = jsonPointer([history.listField, number, 'content', block])
      const given = isObject(value) && value.type === 'compaction' ? (value.content ?? null) : null
      if (given !== null) {
        if (role === 'system') findings.push({ pointer, message: 'a compaction block in a system message' })
        if (given === '') findings.push({ pointer, message: 'a compaction block with empty content' })
        if (found) findings.push({ pointer, message: 'a second compaction block with content' })
        findings.push(
          ...(isFirst || found
            ? []
            : [advisoryIf(true, { pointer, message: 'a compaction block behind other content' })]),
        )
        found = true
      }
      isFirst = false
    }
    if (blocks === null && role !== 'system') isFirst = false
  })
  return findings
}
