import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readTextLines, type TextLine } from '../../../../data/import/text-lines.ts'
import { withFolder } from '../../../fixtures/import-log.ts'

async function linesOf(bytes: Buffer | string): Promise<readonly TextLine[]> {
  return withFolder({ 'a.log': bytes }, async (folder) => {
    const lines: TextLine[] = []
    for await (const line of readTextLines(join(folder, 'a.log'))) lines.push(line)
    return lines
  })
}

describe('lines of a text log', () => {
  it('come with their numbers, without BOM, CR and NUL bytes, the last one with or without a line break', async () => {
    const expected = [
      { line: 1, text: 'one', problem: null },
      { line: 2, text: '', problem: null },
      { line: 3, text: 'three', problem: '2 NUL bytes dropped' },
    ]
    expect(await linesOf('\ufeffone\r\n\r\nth\0ree\0')).toEqual(expected)
    expect(await linesOf('\ufeffone\n\nth\0ree\0\n')).toEqual(expected)
  })

  it('keep bad UTF-8 as U+FFFD and name the line, and take a U+FFFD of the file for what it is', async () => {
    const bad = Buffer.concat([Buffer.from('good\nb'), Buffer.from([0xff]), Buffer.from('d\n')])
    expect((await linesOf(bad)).map((line) => line.problem !== null)).toEqual([false, true])
    expect((await linesOf('\ufffd\n'))[0]?.problem).toBe(null)
  })

  it('stay whole where a read ends inside of one, and inside of a character', async () => {
    const long = 'é'.repeat(700_000)
    const lines = await linesOf(`a\n${long}\n${long}b\n`)
    expect(lines.map((line) => line.text.length)).toEqual([1, 700_000, 700_001])
    expect(lines.every((line) => line.problem === null)).toBe(true)
  })
})
