import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { parseJsonLines } from '../../data/import/json-lines.ts'

const record = fc.record({ type: fc.constant('user'), uuid: fc.string(), message: fc.jsonValue() })

describe('JSONL with one torn line', () => {
  test.prop([fc.array(record, { maxLength: 6 }), record, fc.array(record, { maxLength: 6 }), fc.nat()])(
    'gives all other records in order, and reports that line alone',
    (before, torn, after, cut) => {
      const text = JSON.stringify(torn)
      const part = text.slice(0, 1 + (cut % (text.length - 1)))
      const lines = [
        ...before.map((value) => JSON.stringify(value)),
        part,
        ...after.map((value) => JSON.stringify(value)),
      ]
      const read = [...parseJsonLines(Buffer.from(lines.join('\n')))]
      expect(read.flatMap((line) => (line.kind === 'record' ? [JSON.stringify(line.value)] : []))).toEqual(
        [...before, ...after].map((value) => JSON.stringify(JSON.parse(JSON.stringify(value)))),
      )
      expect(read.flatMap((line) => (line.kind === 'problem' ? [line.line] : []))).toEqual([before.length + 1])
    },
  )
})
