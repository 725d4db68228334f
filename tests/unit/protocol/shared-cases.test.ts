/**
 * ../shared/cases, as far as parsing, validating, repairing, converting and compacting answer them. All of them run through
 * `npm run cases`.
 */
import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { applyPlan } from '../../../src/compaction/apply-plan.ts'
import type { Compaction } from '../../../src/compaction/plan.ts'
import { planCompaction } from '../../../src/compaction/plan-compaction.ts'
import { convertHistory } from '../../../src/protocol/convert/convert-history.ts'
import { HISTORY_FORMATS, type HistoryFormat, type SplitHistory } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { repairHistory } from '../../../src/protocol/repair/repair-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'
import { truncateObservations } from '../../../src/protocol/truncate-observations.ts'
import { blockingViolations, validateHistory } from '../../../src/protocol/validate-history.ts'
import { itWithShared, sharedPath } from '../../shared-folder.ts'

interface Case {
  /** A format's name, or one that begins with it (openai-responses-items). */
  readonly format: string
  readonly params: { readonly labels?: readonly string[]; readonly summarizerReply?: string }
  readonly input: unknown
}

const countTokens = (text: string): number => Math.ceil(text.length / 4)
const NO_LIMITS = { minSpanInteractions: 0, minSourceTokens: 0 }

const formatOf = (name: string): HistoryFormat =>
  HISTORY_FORMATS.find((format) => name.startsWith(format)) ?? 'openai-chat'

function readCase(name: string): { readonly given: Case; readonly split: SplitHistory } {
  const given: Case = JSON.parse(readFileSync(sharedPath('cases', `${name}.json`), 'utf8'))
  return { given, split: splitHistory(parseHistory(JSON.stringify(given.input), formatOf(given.format))) }
}

/** The case's labels as an explicit ready set; the labels bypass kappa and B_min, never shrink and validity. */
function compact(name: string, summary: string): { readonly split: SplitHistory; readonly done: Compaction } {
  const { given, split } = readCase(name)
  const ready = new Set((given.params.labels ?? []).flatMap((label, index) => (label === 'READY' ? [index] : [])))
  const plan = planCompaction({ split, ready, limits: NO_LIMITS, countTokens })
  const summaries = new Map(plan.spans.map((span) => [span.start, summary]))
  return { split, done: applyPlan({ split, plan, summaries, countTokens }) }
}

const rulesOf = (split: SplitHistory): readonly string[] =>
  blockingViolations(validateHistory(split.history)).map(({ rule }) => rule)

describe('cases of parsing and validating', () => {
  itWithShared('01: three interactions, each with its own results', () => {
    const { split } = readCase('01-orphan-tool-result-at-cut')
    expect(split.interactions.length).toBe(3)
    expect(rulesOf(split)).toEqual([])
  })
  itWithShared('02: a call that a later user message follows is dead, not in flight', () => {
    const { split } = readCase('02-unanswered-tool-use-in-kept-tail')
    expect(split.interactions.map(({ state }) => state)).toEqual(['answered', 'dead'])
    expect(rulesOf(split)).toEqual(['A1'])
  })
  itWithShared('03: a parallel batch is one interaction', () => {
    const { split } = readCase('03-parallel-batch-is-atomic')
    expect(split.interactions.length).toBe(2)
    expect(split.trajectory.interactions[0]?.observations.length).toBe(3)
  })
  itWithShared('07: steering text is a user turn, and the order is a violation', () => {
    const { split } = readCase('07-steering-message-between-call-and-result')
    expect(split.trajectory.turns.map(({ text }) => text)).toEqual(['also check the refunds table'])
    expect(split.interactions[0]?.state).toBe('answered')
    expect(rulesOf(split)).toEqual(['C1', 'C2'])
  })
  itWithShared('27: reused ids pair with the nearest call; the extra result is a duplicate', () => {
    const { split } = readCase('27-tool-call-id-reuse')
    const pairs = split.trajectory.interactions.flatMap(({ toolCalls, observations }) =>
      toolCalls.map(({ name }, call) => [name, observations[call]?.content]),
    )
    expect(split.interactions.length).toBe(4)
    expect(pairs).toEqual([
      ['get_user', 'Ana'],
      ['calculate', '255'],
      ['date', '09:00'],
    ])
    expect(rulesOf(split)).toEqual(['C2'])
  })
})

describe('cases of repairing and converting', () => {
  const repaired = (name: string, danglingCalls: 'drop' | 'close' = 'drop') => {
    const { split } = readCase(name)
    const { history, changes, remaining } = repairHistory(split.history, { danglingCalls })
    expect(blockingViolations(remaining)).toEqual([])
    return { history, out: renderMessages(history.messages), changes: changes.map(({ action }) => action) }
  }
  itWithShared('02: the dead call is dropped or closed, its text and the later words of the user stay', () => {
    for (const how of ['drop', 'close'] as const) {
      const { out, history } = repaired('02-unanswered-tool-use-in-kept-tail', how)
      expect(out).toContain('Exporting now.')
      expect(history.messages.at(-1)?.value.content).toBe('Never mind the export, just tell me the row count.')
      expect(out.includes('toolu_dead9')).toBe(how === 'close')
    }
  })
  itWithShared('07: the result stands directly behind its call, the steering text after it', () => {
    const { history } = repaired('07-steering-message-between-call-and-result')
    expect(history.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
    expect(history.messages[3]?.value.content).toBe('also check the refunds table')
  })
  itWithShared('12: the dead call goes with its reasoning item, or gets one output', () => {
    expect(repaired('12-responses-call-without-output').out).not.toMatch(/rs_x|call_x2/)
    const { history } = repaired('12-responses-call-without-output', 'close')
    expect(history.messages.map(({ value }) => value.call_id ?? value.id ?? value.role)).toEqual([
      'user',
      'call_x1',
      'rs_x',
      'call_x2',
      'call_x1',
      'call_x2',
      'user',
    ])
  })
  itWithShared('17: no cut splits a pair, and the half pair that was there is replaced', () => {
    const { split } = readCase('17-truncation-at-surrogate-pair')
    const cut = truncateObservations(split.history, { maxChars: 20 })
    expect(cut.messages[2]?.value.content).toMatch(/^a{19}\n\[39 characters left out\]$/)
    expect(cut.messages[4]?.value.content).toBe('ok \ufffd')
  })
  itWithShared('27: for Anthropic the ids are unique on both sides, and the late copy is named', () => {
    const { split } = readCase('27-tool-call-id-reuse')
    const { history, losses } = convertHistory(split.history, 'anthropic-messages')
    const ids = [...renderMessages(history.messages).matchAll(/(?:"tool_use","id"|"tool_use_id"):"([^"]*)"/g)].map(
      ([, id]) => id,
    )
    expect(ids).toEqual(['call_HG1', 'call_HG1', 'call_HG1_2', 'call_HG1_2', 'bash_0', 'bash_0'])
    expect(losses.join()).toContain('a second result of tool call "bash:0" was dropped')
  })
  itWithShared('35: parallel calls of one function get two ids and their own results', () => {
    const { split } = readCase('35-gemini-same-name-parallel-calls-without-ids')
    const { history } = convertHistory(split.history, 'openai-chat')
    const results = history.messages.filter(({ role }) => role === 'tool').map(({ value }) => value.content)
    expect(results).toEqual(['rain', 'sun', 'AAA', 'BBB'])
    expect(blockingViolations(validateHistory(history))).toEqual([])
  })
})

describe('cases of compacting', () => {
  itWithShared('09: thinking of kept steps stays byte for byte', () => {
    const { split, done } = compact('09-thinking-signature-untouched', 'bad issuer')
    const out = renderMessages(done.messages)
    for (const message of split.history.messages.slice(3)) expect(out).toContain(message.raw)
    expect(blockingViolations(validateHistory({ ...split.history, messages: done.messages }))).toEqual([])
  })
  itWithShared('19: no bad summary is committed, and each has a reason', () => {
    for (const reply of ['', ' \n ', 'Summary unavailable due to context limits.']) {
      const { split, done } = compact('19-empty-or-tool-call-summary-is-rejected', reply)
      expect(done.messages).toBe(split.history.messages)
      expect(done.reason).not.toBeNull()
    }
  })
  itWithShared('21: a replacement larger than its source is refused with no_gain', () => {
    const { given } = readCase('21-compaction-must-shrink')
    const { split, done } = compact('21-compaction-must-shrink', given.params.summarizerReply ?? '')
    expect(done).toMatchObject({ outcome: 'noop', reason: 'no_gain' })
    expect(done.messages).toBe(split.history.messages)
  })
  itWithShared('30: an answered user message does not move', () => {
    const { split, done } = compact('30-order-preserved-for-mid-history-user-turn', 'ports: 8080 taken')
    expect(done.messages.at(-1)?.raw).toBe(split.history.messages.at(-1)?.raw)
    const contents = done.messages.map(({ value }) => value.content)
    expect(contents.indexOf('use port 9090')).toBeLessThan(done.messages.length - 2)
  })
  itWithShared('37: the replaced step takes its thinking with it, the step before keeps its own', () => {
    const { done } = compact('37-prefix-bound-thinking-after-edit', 'the archive holds 120 parts')
    const out = renderMessages(done.messages)
    expect(done.outcome).toBe('applied')
    expect(out).toContain('sigA')
    expect(out).not.toContain('sigB')
    for (const id of ['toolu_p1', 'toolu_p3', 'toolu_p4']) expect(out).toContain(id)
  })
})
