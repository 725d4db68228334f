import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { cutTo, displayWidth, fitTo, oneLine, painter } from '../../../src/cli/terminal-text.ts'

describe('text from logs on a terminal', () => {
  it('loses colour codes, line breaks and whatever moves the cursor', () => {
    expect(oneLine('\u001b[31mred\u001b[0m\r\n  two\tthree\u0007 \u001b]0;title\u0007end')).toBe('red two three end')
    expect(oneLine('\u001b[2J\u001b[1;1Hgone\u009b31m')).toBe('gone 31m')
  })

  it('cannot turn the direction of writing or hide characters', () => {
    expect(oneLine('a\u202etxt.exe\u202c \u2066b\u2069 c\u200bd')).toBe('a txt.exe b c d')
  })

  it('takes two columns for wide characters and none for combining marks', () => {
    expect(displayWidth('ab')).toBe(2)
    expect(displayWidth('\u4e2d\u6587')).toBe(4)
    expect(displayWidth('e\u0301')).toBe(1)
    expect(displayWidth('\u{1f600}')).toBe(2)
  })

  it('is cut with an ellipsis and filled up on the side asked for', () => {
    expect(cutTo('interaction', 6)).toBe('inter\u2026')
    expect(cutTo('\u4e2d\u6587\u5b57', 4)).toBe('\u4e2d\u2026')
    expect(cutTo('abc', 0)).toBe('')
    expect(fitTo('ab', 4)).toBe('ab  ')
    expect(fitTo('ab', 4, 'end')).toBe('  ab')
  })

  test.prop([fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 })])(
    'fits the columns it is given, whatever it holds',
    (text, width) => {
      expect(displayWidth(fitTo(oneLine(text), width))).toBe(width)
    },
  )

  test.prop([fc.string({ unit: 'binary' })])('holds no control character', (text) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(oneLine(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/)
  })

  it('is painted on a terminal only', () => {
    expect(painter(true)('ready', 'x')).toBe('\u001b[32mx\u001b[0m')
    expect(painter(false)('ready', 'x')).toBe('x')
    expect(painter(true)('dim', '')).toBe('')
  })
})
