/**
 * A1-A4: calls and results of Anthropic Messages. Pure.
 * Checked on combined turns (A6), so results spread over two neighbouring user messages count as one batch.
 */

import { advisoryIf, type Finding, quote, type RoleTurn, type Rule, type RuleInput } from '../rules/rule.ts'
import type { CallSegment, ResultSegment } from '../segment.ts'

const ASK = '{"role":"user","content":"go"}'
const call = (id: string): string => `{"type":"tool_use","id":"${id}","name":"ls","input":{}}`
const result = (id: string): string => `{"type":"tool_result","tool_use_id":"${id}","content":"ok"}`
const assistant = (...blocks: readonly string[]): string => `{"role":"assistant","content":[${blocks.join(',')}]}`
const user = (...blocks: readonly string[]): string => `{"role":"user","content":[${blocks.join(',')}]}`
const list = (...messages: readonly string[]): string => `[${messages.join(',')}]`
const VALID = list(ASK, assistant(call('a')), user(result('a')))

export const ANTHROPIC_PAIRING_RULES: readonly Rule[] = [
  {
    id: 'A1',
    format: 'anthropic-messages',
    sentence:
      'Every tool_use is answered by a tool_result in the directly following user turn, the whole batch together.',
    check: checkAnswered,
    examples: { violating: list(ASK, assistant(call('a')), ASK), valid: VALID },
  },
  {
    id: 'A2',
    format: 'anthropic-messages',
    sentence: 'Every tool_result answers a tool_use of the directly preceding assistant turn.',
    check: checkOrphans,
    examples: { violating: list(user(result('a'))), valid: VALID },
  },
  {
    id: 'A3',
    format: 'anthropic-messages',
    sentence: 'A tool_use has one result, and tool ids are unique in the request.',
    check: checkUnique,
    examples: { violating: list(ASK, assistant(call('a')), user(result('a'), result('a'))), valid: VALID },
  },
  {
    id: 'A4',
    format: 'anthropic-messages',
    sentence: 'In the user turn that answers a batch the tool_result blocks come first, text after them.',
    check: checkResultsFirst,
    examples: {
      violating: list(ASK, assistant(call('a')), user('{"type":"text","text":"wait"}', result('a'))),
      valid: list(ASK, assistant(call('a')), user(result('a'), '{"type":"text","text":"wait"}')),
    },
  },
]

function checkAnswered({ turns, inFlight }: RuleInput): readonly Finding[] {
  return turns.flatMap((turn, number) => {
    const answers = new Set(resultsOf(turns[number + 1]).map((answer) => answer.id))
    return callsOf(turn)
      .filter((open) => !answers.has(open.id))
      .map(({ pointer, id }) => {
        const waits = inFlight.has(pointer)
        return advisoryIf(waits, {
          pointer,
          message: `tool_use ${quote(id)} ${waits ? 'is still in flight: its result has yet to come' : 'has no tool_result in the next user turn'}`,
        })
      })
  })
}

function checkOrphans({ turns }: RuleInput): readonly Finding[] {
  return turns.flatMap((turn, number) => {
    const calls = new Set(callsOf(turns[number - 1]).map((open) => open.id))
    return resultsOf(turn)
      .filter((answer) => !calls.has(answer.id))
      .map(({ pointer, id }) => ({
        pointer,
        message: `tool_result for ${quote(id)}, which the preceding assistant turn did not call`,
      }))
  })
}

function checkUnique({ turns }: RuleInput): readonly Finding[] {
  const findings: Finding[] = []
  const ids = new Set<string | null>()
  for (const turn of turns) {
    for (const { id, pointer } of callsOf(turn)) {
      if (ids.has(id)) findings.push({ pointer, message: `tool id ${quote(id)} is used by an earlier tool_use` })
      ids.add(id)
    }
    const answered = new Set<string | null>()
    for (const { id, pointer } of resultsOf(turn)) {
      if (answered.has(id)) findings.push({ pointer, message: `second tool_result for ${quote(id)}` })
      answered.add(id)
    }
  }
  return findings
}

function checkResultsFirst({ turns }: RuleInput): readonly Finding[] {
  return turns.flatMap((turn) => {
    if (turn.role !== 'user') return []
    const firstOther = turn.segments.findIndex((segment) => segment.kind !== 'result')
    return turn.segments
      .filter((segment, number) => segment.kind === 'result' && firstOther !== -1 && number > firstOther)
      .map(({ pointer }) => ({ pointer, message: 'tool_result after other content of the same user turn' }))
  })
}

function callsOf(turn: RoleTurn | undefined): readonly CallSegment[] {
  return turn?.role === 'assistant' ? turn.segments.filter((segment) => segment.kind === 'call') : []
}

function resultsOf(turn: RoleTurn | undefined): readonly ResultSegment[] {
  return turn?.role === 'user' ? turn.segments.filter((segment) => segment.kind === 'result') : []
}
