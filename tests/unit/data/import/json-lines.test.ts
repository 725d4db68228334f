import { describe, expect, it } from 'vitest'
import { type JsonLine, parseJsonLines, readJsonLines } from '../../../../data/import/json-lines.ts'
import { withFolder } from '../../../fixtures/import-log.ts'

const values = (lines: readonly JsonLine[]): unknown[] =>
  lines.flatMap((line) => (line.kind === 'record' ? [line.value] : []))
const problems = (lines: readonly JsonLine[]): number[] =>
  lines.flatMap((line) => (line.kind === 'problem' ? [line.line] : []))
const read = (text: string): JsonLine[] => [...parseJsonLines(Buffer.from(text))]

/** The lines of case 26: BOM, CR, NULs, a torn prefix glued to a whole record, a torn tail without line break. */
const DAMAGED = [
  '\ufeff{"role": "user", "content": "one"}',
  '{"role": "assistant", "content": "two"}\r',
  '\0'.repeat(37),
  '{"role":"assistant","content":"par{"role": "assistant", "content": "glued"}',
  '{"role": "user", "content": "three"}',
  '{"role":"assistant","content":"unfin',
].join('\n')

describe('damaged JSONL', () => {
  it('gives every whole record and names the line of every damaged one', () => {
    const lines = read(DAMAGED)
    expect(values(lines)).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'assistant', content: 'glued' },
      { role: 'user', content: 'three' },
    ])
    expect(problems(lines)).toEqual([3, 4, 6])
  })

  it('reads the same from a stream as from memory', async () => {
    await withFolder({ 'log.jsonl': DAMAGED }, async (folder) => {
      const streamed: JsonLine[] = []
      for await (const line of readJsonLines(`${folder}/log.jsonl`)) streamed.push(line)
      expect(streamed).toEqual(read(DAMAGED))
    })
  })

  it('does not bring the inside of a torn record back as a record', () => {
    const torn = '{"type":"assistant","message":{"content":[{"type":"text","text":"a"}],"usage":{"n":1}'
    expect(values(read(torn))).toEqual([])
    expect(problems(read(`${torn}\n{"type":"user"}\n`))).toEqual([1])
  })

  it('does not take the last message of a torn body for a record', () => {
    const torn = '{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"one"}'
    expect(values(read(torn))).toEqual([])
    expect(problems(read(torn))).toEqual([1])
  })

  it('reads two whole records that share a line', () => {
    expect(values(read('{"a":"}{"}{"b":2}\n'))).toEqual([{ a: '}{' }, { b: 2 }])
  })

  it('keeps a record behind NUL padding and says so', () => {
    const lines = read('\0\0\0{"a":1}\n')
    expect(values(lines)).toEqual([{ a: 1 }])
    expect(lines).toContainEqual({ kind: 'problem', line: 1, reason: '3 NUL bytes dropped' })
  })

  it('does not break a record at U+2028, which JSON strings may hold', () => {
    expect(values(read('{"a":"x\u2028y"}\n{"b":1}\n'))).toEqual([{ a: 'x\u2028y' }, { b: 1 }])
  })

  it('keeps a record with bytes that are no UTF-8 and reports it', () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}\n')])
    const lines = [...parseJsonLines(bytes)]
    expect(values(lines)).toEqual([{ a: '\ufffd' }])
    expect(problems(lines)).toEqual([1])
  })

  it('keeps the exact text of a record, so that large numbers survive', () => {
    const [line] = read('{"n":12345678901234567890,"f":1.0}\n')
    expect(line).toMatchObject({ raw: '{"n":12345678901234567890,"f":1.0}' })
  })
})
