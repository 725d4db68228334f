/**
 * V1-V5: tool calls and results of AI SDK messages (reference/protocol.md section 5, whose rules have no ids: these are
 * ours). The SDK itself throws for V1 and for a user message in V5; the rest reaches the provider, which refuses it. Pure.
 */
import { advisoryIf, type Finding, quote, type Rule, type RuleInput } from '../rules/rule.ts'
import { isObject } from '../segment.ts'
import { ASK, assistant, call, list, result, tool, VALID } from './examples.ts'
import { matchResults } from './match-results.ts'

export const AI_SDK_PAIRING_RULES: readonly Rule[] = [
  {
    id: 'V1',
    format: 'ai-sdk',
    sentence: 'Every tool call has a tool result (but a call that the provider executes may have none).',
    check: checkMissing,
    examples: { violating: list(ASK, assistant(call('a')), ASK), valid: VALID },
  },
  {
    id: 'V2',
    format: 'ai-sdk',
    sentence: 'Every tool result answers a tool call before it.',
    check: checkOrphans,
    examples: { violating: list(ASK, tool(result('a')), ASK), valid: VALID },
  },
  {
    id: 'V3',
    format: 'ai-sdk',
    sentence: 'A tool call has one result.',
    check: checkDuplicates,
    examples: { violating: list(ASK, assistant(call('a')), tool(result('a'), result('a'))), valid: VALID },
  },
  {
    id: 'V4',
    format: 'ai-sdk',
    sentence: 'Tool-call ids are unique: in one message for every provider, in the whole history for some.',
    check: checkUnique,
    examples: {
      violating: list(ASK, assistant(call('a')), tool(result('a')), assistant(call('a')), tool(result('a'))),
      valid: list(ASK, assistant(call('a')), tool(result('a')), assistant(call('b')), tool(result('b'))),
    },
  },
  {
    id: 'V5',
    format: 'ai-sdk',
    sentence: 'Nothing but tool messages stands between a tool call and its result.',
    check: checkBetween,
    examples: { violating: list(ASK, assistant(call('a')), ASK, tool(result('a'))), valid: VALID },
  },
]

function checkMissing(input: RuleInput): readonly Finding[] {
  return matchResults(input).unanswered.flatMap(({ message, call: open }): readonly Finding[] => {
    const part = input.history.messages[message]?.blocks?.[open.block ?? 0]?.value
    if (isObject(part) && part.providerExecuted === true) return []
    const waits = input.inFlight.has(open.pointer)
    const text = `tool call ${quote(open.id)} ${waits ? 'is still in flight: its result has yet to come' : 'has no result'}`
    return [advisoryIf(waits, { pointer: open.pointer, message: text })]
  })
}

function checkOrphans(input: RuleInput): readonly Finding[] {
  return matchResults(input).orphans.map(({ pointer, id }) => ({
    pointer,
    message: `tool result for ${quote(id)}, which no call before it has`,
  }))
}

function checkDuplicates(input: RuleInput): readonly Finding[] {
  return matchResults(input).duplicates.map(({ pointer, id }) => ({
    pointer,
    message: `second tool result for ${quote(id)}`,
  }))
}

function checkUnique({ segments }: RuleInput): readonly Finding[] {
  const seen = new Map<string, number>()
  return segments.flatMap((row, message) =>
    row.flatMap((segment): readonly Finding[] => {
      if (segment.kind !== 'call' || segment.id === null) return []
      const before = seen.get(segment.id)
      seen.set(segment.id, message)
      if (before === undefined) return []
      const text = `tool-call id ${quote(segment.id)} is used by an earlier call`
      return [advisoryIf(before !== message, { pointer: segment.pointer, message: text })]
    }),
  )
}

function checkBetween(input: RuleInput): readonly Finding[] {
  return matchResults(input).answered.flatMap(({ message, answeredIn, result: answer }): readonly Finding[] => {
    if (message === answeredIn) return []
    const between = input.history.messages.slice(message + 1, answeredIn)
    const other = between.find(({ role }) => role !== 'tool')
    if (other === undefined) return []
    const text = `a message of role ${other.role} stands between this tool result and its call`
    return [{ pointer: answer.pointer, message: text }]
  })
}
