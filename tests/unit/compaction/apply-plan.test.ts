import { describe, expect, it } from 'vitest'
import { applyPlan } from '../../../src/compaction/apply-plan.ts'
import type { Compaction, Plan } from '../../../src/compaction/plan.ts'
import { type PlanLimits, planCompaction } from '../../../src/compaction/plan-compaction.ts'
import { recogniseSummaryText } from '../../../src/compaction/summary-message.ts'
import type { HistoryFormat, SplitHistory } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { renderMessages } from '../../../src/protocol/render-messages.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'

const countTokens = (text: string): number => Math.ceil(text.length / 4)
const LIMITS: PlanLimits = { minSpanInteractions: 1, minSourceTokens: 1 }
const LONG = 'row of the ledger '.repeat(40)
const SUMMARY = 'facts:\n- the ledger was read with n = 12345678901234567890'

const use = (id: string): string => `{"type":"tool_use","id":"${id}","name":"read","input":{"n":12345678901234567890}}`
const assistant = (id: string): string => `{"role":"assistant","content":[${use(id)}]}`
const results = (id: string, ...more: string[]): string =>
  `{"role":"user","z":1.0,"content":[${[`{"type":"tool_result","tool_use_id":"${id}","content":"${LONG}"}`, ...more]}],"9":[1]}`

/** Interactions 0-1, user text inside the message that answers 1, then 2-4. */
const TEXT_BLOCK = '{"type":"text", "text":"use port 9090", "x":1.0}'
const ANTHROPIC = `[{"role":"user","content":"go"},${assistant('a')},${results('a')},${assistant('b')},${results('b', TEXT_BLOCK)},${assistant('c')},${results('c')},${assistant('d')},${results('d')},${assistant('e')},${results('e')}]`

function run(
  text: string,
  options: {
    readonly format?: HistoryFormat
    readonly ready: readonly number[]
    readonly summary?: string
    readonly limits?: PlanLimits
    readonly edit?: (plan: Plan) => Plan
  },
): { readonly split: SplitHistory; readonly plan: Plan; readonly done: Compaction; readonly out: string } {
  const split = splitHistory(parseHistory(text, options.format ?? 'anthropic-messages'))
  const planned = planCompaction({
    split,
    ready: new Set(options.ready),
    limits: options.limits ?? LIMITS,
    countTokens,
  })
  const plan = options.edit?.(planned) ?? planned
  const summaries = new Map(plan.spans.map((span) => [span.start, options.summary ?? SUMMARY]))
  const done = applyPlan({ split, plan, summaries, countTokens })
  return { split, plan, done, out: renderMessages(done.messages) }
}

function expectUntouched({ split, done }: ReturnType<typeof run>): void {
  expect(done.messages).toBe(split.history.messages)
  expect(done.newHash).toBe(done.baseHash)
  expect(done.tokens.after).toBe(done.tokens.before)
}

describe('applyPlan', () => {
  it('replaces spans by one user message each and keeps user text inside the extent as the same bytes, in order', () => {
    const { done, plan, out } = run(ANTHROPIC, { ready: [0, 1, 2, 3] })
    expect(plan.spans.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [2, 4],
    ])
    expect(done).toMatchObject({ outcome: 'applied', reason: null })
    const [task, first, kept, second, call, answer, ...rest] = done.messages
    expect(rest).toEqual([])
    expect(task?.raw).toBe('{"role":"user","content":"go"}')
    expect(recogniseSummaryText(String(first?.value.content))).toMatchObject({ start: 0, end: 2, content: SUMMARY })
    expect(kept?.raw).toBe(`{"role":"user","z":1.0,"content":[${TEXT_BLOCK}],"9":[1]}`)
    expect(recogniseSummaryText(String(second?.value.content))).toMatchObject({ start: 2, end: 4 })
    expect(call?.raw).toBe(assistant('e'))
    expect(answer?.raw).toBe(results('e'))
    expect(out).toContain('12345678901234567890')
    expect(done.tokens.after).toBeLessThan(done.tokens.before)
    expect(done.newHash).not.toBe(done.baseHash)
  })

  it('leaves canonical numbers behind the summary as they were', () => {
    const { done, split } = run(ANTHROPIC, { ready: [0, 1] })
    const again = splitHistory({ ...split.history, messages: done.messages })
    expect(again.interactions.map(({ index }) => index)).toEqual([2, 3, 4])
    expect(again.items.find((item) => item.kind === 'summary')).toMatchObject({ start: 0, end: 2 })
  })

  it('drops the thinking of replaced interactions and keeps that of others byte for byte', () => {
    const thinking = (sign: string): string => `{"type":"thinking","thinking":"t \\u00e9","signature":"${sign}"}`
    const step = (id: string): string => `{"role":"assistant","content":[${thinking(`sig-${id}`)},${use(id)}]}`
    const text = `[{"role":"user","content":"go"},${step('a')},${results('a')},${step('b')},${results('b')},${step('c')},${results('c')}]`
    const { out, done } = run(text, { ready: [0, 1] })
    expect(done.outcome).toBe('applied')
    expect(out).toContain(`${step('c')},${results('c')}`)
    expect(out).not.toMatch(/sig-[ab]/)
  })

  it('appends live literals that the summary does not hold', () => {
    const { done } = run(ANTHROPIC, { ready: [0, 1], summary: 'facts:\n- the ledger was read' })
    expect(recogniseSummaryText(String(done.messages[1]?.value.content))?.content).toBe(
      'facts:\n- the ledger was read\nalso referenced later: 12345678901234567890',
    )
  })

  it('says nothing-ready, no-span-passed and no_gain for the reasons they name, and touches nothing', () => {
    const nothing = run(ANTHROPIC, { ready: [] })
    expect(nothing.done).toMatchObject({ outcome: 'noop', reason: 'nothing-ready' })
    expectUntouched(nothing)
    const short = run(ANTHROPIC, { ready: [0, 1], limits: { minSpanInteractions: 3, minSourceTokens: 1 } })
    expect(short.done).toMatchObject({ outcome: 'noop', reason: 'no-span-passed' })
    expectUntouched(short)
    const tiny = `[{"role":"user","content":"hi"},{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"}]`
    const small = run(tiny, { format: 'openai-chat', ready: [0, 1] })
    expect(small.done).toMatchObject({ outcome: 'noop', reason: 'no_gain' })
    expectUntouched(small)
  })

  it('refuses a summary that is not shorter than its source: no_gain, also when another span would gain', () => {
    const long = run(ANTHROPIC, { ready: [0, 1, 2, 3], summary: `facts:\n- ${LONG.repeat(4)}` })
    expect(long.done).toMatchObject({ outcome: 'noop', reason: 'no_gain' })
    expectUntouched(long)
  })

  it.each([
    '',
    ' \n ',
    '<tool_call>{}</tool_call>',
    '<keepready-summary id="x" interactions="0-1">',
    'Summary unavailable.',
  ])('refuses %j as a summary and touches nothing', (summary) => {
    const bad = run(ANTHROPIC, { ready: [0, 1], summary })
    expect(bad.done).toMatchObject({ outcome: 'failed', reason: 'summary-invalid' })
    expectUntouched(bad)
  })

  it('fails as a whole when one of two summaries is missing', () => {
    const { split, plan } = run(ANTHROPIC, { ready: [0, 1, 2, 3] })
    const done = applyPlan({ split, plan, summaries: new Map([[0, SUMMARY]]), countTokens })
    expect(done).toMatchObject({ outcome: 'failed', reason: 'summary-invalid' })
    expect(done.messages).toBe(split.history.messages)
  })

  it('rejects a plan made from another history, and one whose spans are not its own', () => {
    const stale = run(ANTHROPIC, { ready: [0, 1], edit: (plan) => ({ ...plan, baseHash: 'f'.repeat(64) }) })
    expect(stale.done).toMatchObject({ outcome: 'rejected', reason: 'plan-stale' })
    expectUntouched(stale)
    for (const [start, end] of [
      [3, 5],
      [1, 1],
      [7, 9],
    ] as const) {
      const edit = (plan: Plan): Plan => ({ ...plan, spans: plan.spans.map((span) => ({ ...span, start, end })) })
      const forged = run(ANTHROPIC, { ready: [0, 1], edit })
      expect(forged.done).toMatchObject({ outcome: 'rejected', reason: 'plan-stale' })
      expectUntouched(forged)
    }
  })

  it('rejects an input that is already invalid, with its violations', () => {
    const text = ANTHROPIC.replace('"go"', '" "')
    const invalid = run(text, { ready: [0, 1] })
    expect(invalid.done).toMatchObject({ outcome: 'rejected', reason: 'input-invalid' })
    expect(invalid.done.violations?.map(({ rule }) => rule)).toEqual(['A8'])
    expectUntouched(invalid)
  })

  it('fails with output-invalid, and the old messages, when the result would break a rule that the input kept', () => {
    // Neighbouring assistant messages are one turn for Anthropic: a summary between call and result would break A4.
    const text = `[{"role":"user","content":"go"},${assistant('p')},{"role":"assistant","content":[{"type":"text","text":"${LONG}"},${use('q')}]},${results('p').replace(']', `,{"type":"tool_result","tool_use_id":"q","content":"ok"}]`)},${assistant('r')},${results('r')}]`
    const broken = run(text, { ready: [1], limits: { minSpanInteractions: 0, minSourceTokens: 1 } })
    expect(broken.done).toMatchObject({ outcome: 'failed', reason: 'output-invalid' })
    expect(broken.done.violations?.map(({ rule }) => rule)).toEqual(['A4'])
    expectUntouched(broken)
  })

  it('compacts a history whose newest call is in flight', () => {
    const text = `[{"role":"user","content":"go"},${assistant('a')},${results('a')},${assistant('b')},${results('b')},${assistant('c')}]`
    const { done, out } = run(text, { ready: [0, 1, 2] })
    expect(done.outcome).toBe('applied')
    expect(out.endsWith(`,${assistant('c')}]`)).toBe(true)
  })

  describe('with thinking that is bound to its prefix', () => {
    const thinking = (sign: string): string => `{"type":"thinking","thinking":"t","signature":"${sign}"}`
    const step = (id: string): string => `{"role":"assistant","content":[${thinking(`sig-${id}`)},${use(id)}]}`
    const list = `[{"role":"user","content":"go"},${['a', 'b', 'c', 'd'].map((id) => `${step(id)},${results(id)}`)}]`
    const oneStep: PlanLimits = { minSpanInteractions: 0, minSourceTokens: 1 }
    const body = (more: string): string => `{${more}"messages":${list}}`

    it('leaves out the blocks behind the edit, keeps those before it, calls and results as the same bytes', () => {
      const { done, out } = run(body('"model":"claude-opus-5-5",'), { ready: [1], limits: oneStep })
      expect(done).toMatchObject({
        outcome: 'applied',
        strippedThinking: ['/messages/5/content/0', '/messages/7/content/0'],
      })
      expect(out).toContain(step('a'))
      expect(out).not.toMatch(/sig-[bcd]/)
      for (const id of ['c', 'd']) expect(out).toContain(`${assistant(id)},${results(id)}`)
    })
    it('keeps every block of other models, and where the request lets the API drop them', () => {
      for (const more of [
        '',
        '"model":"claude-opus-4-5",',
        '"model":"claude-opus-5-5","thinking":{"block_binding":{"prefix_mismatch_behavior":"drop_block"}},',
      ]) {
        const { done, out } = run(body(more), { ready: [1], limits: oneStep })
        expect(done.strippedThinking).toBeUndefined()
        expect(out).toContain(`${step('c')},${results('c')},${step('d')}`)
      }
    })
  })
})
