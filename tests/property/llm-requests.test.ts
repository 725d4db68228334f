import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { clipText } from '../../data/annotate/llm/clip-text.ts'
import { promptBudget } from '../../data/annotate/llm/limits.ts'
import { planRun } from '../../data/annotate/llm/plan-run.ts'
import { buildStageOne } from '../../data/annotate/llm/stage-one-request.ts'
import { buildStageTwo } from '../../data/annotate/llm/stage-two-request.ts'
import { countActingTokens as count } from '../../models/tokenizer/acting-tokens.ts'
import { runOf } from '../unit/evidence/run-of.ts'

/** Text as logs have it: words, blanks and line breaks at any place, brackets, other scripts. */
const text = fc
  .array(
    fc.constantFrom(
      'word ',
      'Other',
      '\n',
      '\n\n',
      '  ',
      '<',
      '>',
      '</future>',
      '}',
      '"',
      '12',
      '\u{1f7e1}',
      'é',
      '日本',
      '\r\n',
      '\t',
    ),
    {
      maxLength: 400,
    },
  )
  .map((parts) => parts.join(''))

const run = fc
  .record({
    system: text,
    task: text,
    steps: fc.array(fc.record({ reasoning: text, text, sees: text }), { minLength: 4, maxLength: 9 }),
    turns: fc.array(fc.record({ before: fc.integer({ min: 1, max: 4 }), text }), { maxLength: 2 }),
  })
  .map((parts) => runOf(parts))

const LIMITS = { contextTokens: 5_200, maxOutputTokens: 700 }

describe('requests of the llm annotator', () => {
  test.prop([run], { numRuns: 40 })(
    'fit the model, count exactly, cover every target once, and begin alike',
    (trajectory) => {
      const checkpoints = trajectory.interactions.map(({ index }) => index).slice(2)
      const plan = planRun({ original: trajectory, sent: trajectory }, { checkpoints, limits: LIMITS, count })
      const { layout } = plan
      if (layout === null) return
      const pairs: string[] = []
      let before: string | null = null
      for (const call of plan.calls) {
        const { request, promptTokens } = buildStageOne(layout, { ...call, limits: LIMITS })
        expect(promptTokens).toBe(request.messages.reduce((sum, { content }) => sum + count(content), 0))
        expect(promptTokens).toBeLessThanOrEqual(promptBudget(LIMITS))
        expect(call.targets.length).toBeLessThanOrEqual(2)
        pairs.push(...call.targets.map((target) => `${target}@${call.checkpoint}`))
        const history = request.messages[1]?.content.split('</history #')[0] ?? ''
        if (before !== null) expect(history.startsWith(before)).toBe(true)
        before = history
      }
      const all = checkpoints.flatMap((c) => Array.from({ length: c - 1 }, (_, i) => `${i}@${c}`))
      expect(pairs.sort()).toEqual(all.sort())
      for (const target of plan.targets) {
        const records = checkpoints.map((checkpoint) => ({ checkpoint, record: null }))
        const { promptTokens } = buildStageTwo(trajectory, layout, { target, records, limits: LIMITS })
        expect(promptTokens).toBeLessThanOrEqual(promptBudget(LIMITS))
      }
    },
  )

  test.prop([text, fc.integer({ min: 0, max: 200 })])('clip a text to its tokens, from the middle', (source, limit) => {
    const clipped = clipText(source, limit, count)
    expect(count(clipped)).toBeLessThanOrEqual(limit)
    const [head = '', tail = ''] = clipped.split(/\n\[\.\.\. \d+ characters left out \.\.\.\]\n/)
    expect(source.startsWith(head)).toBe(true)
    expect(source.endsWith(tail)).toBe(true)
  })
})
