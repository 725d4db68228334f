import { describe, expect, it } from 'vitest'
import { indexLiveLiterals, missingLiterals } from '../../../src/compaction/live-literals.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { splitHistory } from '../../../src/protocol/split-history.ts'

const say = (content: string): unknown => ({ role: 'assistant', content })
const messages = [
  { role: 'user', content: 'task names /etc/task.conf' },
  say('found /a/One.ts and /a/two.ts and /a/three.ts and /a/four.ts'),
  say('spare /etc/task.conf'),
  say('now in /a/two.ts'),
  { role: 'user', content: 'old turn about /a/three.ts' },
  say('newest works on /a/one.ts'),
  { role: 'user', content: 'look at /a/four.ts' },
]
const split = splitHistory(parseHistory(JSON.stringify(messages), 'openai-chat'))
const live = (span: { start: number; end: number }, replaced: readonly { start: number; end: number }[] = []) =>
  [...indexLiveLiterals(split, { replaced }).ofSpan(span).values()].filter((literal) => literal.startsWith('/'))

describe('indexLiveLiterals', () => {
  it('finds what later actions, the newest interaction and the pending user turn still use, as the span spells it', () => {
    expect(live({ start: 0, end: 2 })).toEqual(['/a/One.ts', '/a/two.ts', '/a/four.ts'])
  })
  it('does not count actions that the same plan replaces, nor those inside the span', () => {
    expect(live({ start: 0, end: 2 }, [{ start: 2, end: 3 }])).toEqual(['/a/One.ts', '/a/four.ts'])
    expect(live({ start: 0, end: 3 })).toEqual(['/a/One.ts', '/a/four.ts'])
  })
})

describe('missingLiterals', () => {
  it('ignores case', () => {
    expect(missingLiterals('see /A/one.TS', ['/a/One.ts', '/a/two.ts'])).toEqual(['/a/two.ts'])
  })
})
