import { describe, expect, it } from 'vitest'
import { settledTerminal, stripAnsi } from '../../../../data/import/strip-ansi.ts'

describe('terminal output as text', () => {
  it('drops colours, cursor movements and window titles and nothing else', () => {
    expect(stripAnsi('\u001b[1;31mred\u001b[0m [0m] \u001b]0;title\u0007x\u001b[Ky\u001b[?25l')).toBe('red [0m] xy')
  })

  it('shows the last state of lines that were written over, and keeps plain text byte for byte', () => {
    expect(settledTerminal(' 10%\r 55%\r100%\r\r\nnext\r\n')).toBe('100%\nnext\n')
    expect(settledTerminal('Installing ... -\b \b\\\b \b|\b \bdone\n')).toBe('Installing ... done\n')
    expect(settledTerminal('a\n\n  b\t\n')).toBe('a\n\n  b\t\n')
  })
})
