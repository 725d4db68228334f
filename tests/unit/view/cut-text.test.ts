import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { takeEnd, takeStart, wellFormed } from '../../../src/view/cut-text.ts'
import { itWithShared, sharedPath } from '../../shared-folder.ts'

const CIRCLE = '\u{1f7e1}'

describe('cutting text', () => {
  it('steps back one code unit instead of splitting a surrogate pair at the start', () => {
    expect(takeStart(`${'a'.repeat(19)}${CIRCLE} degraded`, 20)).toBe('a'.repeat(19))
    expect(takeStart(`${'a'.repeat(18)}${CIRCLE} degraded`, 20)).toBe(`${'a'.repeat(18)}${CIRCLE}`)
  })

  it('steps forward one code unit instead of splitting a surrogate pair at the end', () => {
    expect(takeEnd(`see ${CIRCLE}${'b'.repeat(5)}`, 6)).toBe('bbbbb')
    expect(takeEnd(`see ${CIRCLE}${'b'.repeat(5)}`, 7)).toBe(`${CIRCLE}bbbbb`)
  })

  it('returns the whole text when more is asked for than there is', () => {
    expect(takeStart(CIRCLE, 10)).toBe(CIRCLE)
    expect(takeEnd(CIRCLE, 10)).toBe(CIRCLE)
  })

  it('replaces lone surrogates and nothing else', () => {
    expect(wellFormed(`ok \ud83d`)).toBe('ok \ufffd')
    expect(wellFormed(`\udfe1${CIRCLE}\ud83d!`)).toBe(`\ufffd${CIRCLE}\ufffd!`)
  })

  itWithShared('cuts the observations of case 17 into well-formed text', () => {
    const item = JSON.parse(readFileSync(sharedPath('cases', '17-truncation-at-surrogate-pair.json'), 'utf8')) as {
      readonly params: { readonly maxObservationChars: number }
      readonly input: { readonly messages: readonly { readonly role: string; readonly content: string }[] }
    }
    const cut = item.input.messages
      .filter((message) => message.role === 'tool')
      .map((message) => wellFormed(takeStart(message.content, item.params.maxObservationChars)))
    expect(cut).toEqual(['a'.repeat(19), 'ok \ufffd'])
  })
})
