import { describe, expect, it } from 'vitest'
import {
  buildLiteralIndex,
  lastTouchBefore,
  MAX_LITERALS_PER_INTERACTION,
} from '../../../src/evidence/literal-index.ts'
import { runOf } from './run-of.ts'

describe('literal index', () => {
  it('credits a literal to the interaction where it stands first, and to none if the head or a turn has it', () => {
    const index = buildLiteralIndex(
      runOf({
        system: 'rule_one',
        task: 'do task_word',
        steps: [
          { sees: 'rule_one task_word first_seen' },
          { reasoning: 'first_seen', call: 'own_word', sees: 'turn_word second_seen' },
        ],
        turns: [{ before: 1, text: 'please turn_word' }],
      }),
    )
    expect(index.introduced).toEqual([['first_seen'], ['own_word', 'second_seen']])
  })

  it('credits a literal to the interaction before a turn that repeats it', () => {
    const index = buildLiteralIndex(runOf({ steps: [{ sees: 'the_word' }], turns: [{ before: 1, text: 'the_word' }] }))
    expect(index.introduced).toEqual([['the_word']])
  })

  it('leaves out tool names and argument names', () => {
    const index = buildLiteralIndex(runOf({ steps: [{ call: '{"file_path": "src/a.ts", "line_limit": 200}' }] }))
    expect(index.introduced).toEqual([['src/a.ts', 'a.ts', '200']])
  })

  it('reads argument values decoded and arguments that are no JSON as they are', () => {
    const index = buildLiteralIndex(
      runOf({ steps: [{ call: '{"text":"one_word\\nnext_word \\"Mia Li\\""}' }, { call: '{"open_end": third_word' }] }),
    )
    expect(index.introduced).toEqual([
      ['one_word', 'next_word', 'mia li'],
      ['open_end', 'third_word'],
    ])
  })

  it('keeps running totals of uses and restatements', () => {
    const index = buildLiteralIndex(
      runOf({
        steps: [
          { sees: 'lit_a lit_b lit_c' },
          { sees: 'lit_a' },
          { reasoning: 'lit_a', sees: 'lit_b' },
          { text: 'other words' },
          { text: 'lit_a lit_b' },
        ],
      }),
    )
    expect(index.touches[0]).toEqual([
      { position: 1, used: 0, restated: 1, usedTotal: 0, restatedTotal: 1, takenUp: 0, users: 0, lastUser: -1 },
      { position: 2, used: 1, restated: 2, usedTotal: 1, restatedTotal: 3, takenUp: 1, users: 1, lastUser: 2 },
      { position: 4, used: 2, restated: 2, usedTotal: 3, restatedTotal: 5, takenUp: 2, users: 2, lastUser: 4 },
    ])
    expect(lastTouchBefore(index, 0, 1)).toBeUndefined()
    expect(lastTouchBefore(index, 0, 4)?.position).toBe(2)
    expect(lastTouchBefore(index, 0, 5)?.position).toBe(4)
  })

  it('bounds the literals of one interaction', () => {
    const sees = Array.from({ length: MAX_LITERALS_PER_INTERACTION + 5 }, (_, at) => `word_${at}`).join(' ')
    const index = buildLiteralIndex(runOf({ steps: [{ reasoning: 'kept_word', sees }] }))
    expect(index.introduced[0]?.length).toBe(MAX_LITERALS_PER_INTERACTION)
    expect(index.introduced[0]?.[0]).toBe('kept_word')
  })
})
