import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fc, test } from '@fast-check/vitest'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, describe, expect, it } from 'vitest'
import { type ColumnBatch, type ColumnKinds, openArrow, writeArrow } from '../../../../data/store/arrow-file.ts'
import { AppError } from '../../../../src/errors.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-arrow-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const COLUMNS: ColumnKinds = {
  name: { kind: 'name', names: ['plain', 'grüße "…"', ''] },
  count: { kind: 'i32' },
  flag: { kind: 'u8' },
  half: { kind: 'list', item: 'f16', length: 3 },
  single: { kind: 'list', item: 'f32', length: 2 },
  rows: { kind: 'list', item: 'i32', length: 4 },
}

const i32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const batch = fc.integer({ min: 0, max: 9 }).chain(
  (rows): fc.Arbitrary<ColumnBatch> =>
    fc.record({
      name: list(fc.integer({ min: 0, max: 2 }), rows).map((values) => Int32Array.from(values)),
      count: list(i32, rows).map((values) => Int32Array.from(values)),
      flag: list(fc.integer({ min: 0, max: 255 }), rows).map((values) => Uint8Array.from(values)),
      half: list(fc.integer({ min: 0, max: 65535 }), 3 * rows).map((values) => Uint16Array.from(values)),
      single: list(fc.float({ noNaN: true }), 2 * rows).map((values) => Float32Array.from(values)),
      rows: list(i32, 4 * rows).map((values) => Int32Array.from(values)),
    }),
)
const batches = fc.array(batch, { minLength: 1, maxLength: 4 })

function list<T>(item: fc.Arbitrary<T>, length: number): fc.Arbitrary<T[]> {
  return fc.array(item, { minLength: length, maxLength: length })
}

async function bytesOf(content: readonly ColumnBatch[], metadata: unknown = { a: 1 }): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const append = async (bytes: Uint8Array): Promise<void> => {
    chunks.push(Uint8Array.from(bytes))
  }
  await writeArrow({ columns: COLUMNS, metadata, batches: content, append })
  return Buffer.concat(chunks)
}

describe('arrow files', () => {
  test.prop([batches, fc.jsonValue()], { numRuns: 30 })('give back what was written', async (content, metadata) => {
    const path = join(folder, 'roundtrip.arrow')
    await writeFile(path, await bytesOf(content, metadata))
    const file = await openArrow(path, COLUMNS)
    try {
      expect(file.metadata).toEqual(JSON.parse(JSON.stringify(metadata)))
      expect(file.batchCount).toBe(content.length)
      // Any order: batches are read by position.
      for (const [index, written] of [...content.entries()].reverse()) {
        const { rows, columns } = await file.readBatch(index)
        expect(rows).toBe(written.flag?.length)
        expect(columns).toEqual(written)
      }
    } finally {
      await file.close()
    }
  })

  test.prop([batches], { numRuns: 20 })('are equal bytes for equal content', async (content) => {
    expect((await bytesOf(content)).equals(await bytesOf(content))).toBe(true)
  })

  it('are read by the Arrow library alone, names and half floats included', async () => {
    const bytes = await bytesOf([
      {
        name: Int32Array.of(1, 0),
        count: Int32Array.of(7, -1),
        flag: Uint8Array.of(0, 1),
        half: Uint16Array.of(0x3c00, 0xc000, 0, 0, 0, 0x3800),
        single: Float32Array.of(1.5, 2, 3, 4),
        rows: Int32Array.of(1, 2, 3, -1, 5, 6, 7, -1),
      },
    ])
    const rows = tableFromIPC(bytes)
      .toArray()
      .map((row) => row.toJSON())
    expect(rows.map((row) => [row.name, row.count, row.flag])).toEqual([
      ['grüße "…"', 7, 0],
      ['plain', -1, 1],
    ])
    expect(rows.map((row) => [...row.half])).toEqual([
      [1, -2, 0],
      [0, 0, 0.5],
    ])
    expect(rows.map((row) => [...row.rows])).toEqual([
      [1, 2, 3, -1],
      [5, 6, 7, -1],
    ])
  })

  test.prop([batches, fc.nat(), fc.integer({ min: 1, max: 255 })], { numRuns: 60 })(
    'with one wrong byte are read as something or refused as dataset-invalid, nothing else',
    async (content, position, change) => {
      const bytes = await bytesOf(content)
      const at = position % bytes.length
      bytes[at] = (bytes[at] ?? 0) ^ change
      const path = join(folder, 'damaged.arrow')
      await writeFile(path, bytes)
      try {
        const file = await openArrow(path, COLUMNS)
        try {
          for (let index = 0; index < file.batchCount; index++) await file.readBatch(index)
        } finally {
          await file.close()
        }
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(AppError)
        expect(thrown).toMatchObject({ code: 'dataset-invalid' })
      }
    },
  )

  it('of other columns, other list lengths or another kind of file are refused by name', async () => {
    const path = join(folder, 'other.arrow')
    await writeFile(path, await bytesOf([]))
    await expect(openArrow(path, { ...COLUMNS, missing: { kind: 'i32' } })).rejects.toThrow(/no column missing/)
    await expect(openArrow(path, { half: { kind: 'list', item: 'f16', length: 4 } })).rejects.toThrow(
      /column half is FixedSizeList\[3\].* instead of FixedSizeList\[4\]/,
    )
    await writeFile(path, '{"this": "is no Arrow file"}')
    await expect(openArrow(path, COLUMNS)).rejects.toMatchObject({ code: 'dataset-invalid' })
    expect((await readFile(path)).length).toBeGreaterThan(0)
  })

  it('refuse to be written from columns of different lengths or types', async () => {
    const empty = { name: new Int32Array(0), count: new Int32Array(0), flag: new Uint8Array(0) }
    const lists = { half: new Uint16Array(0), single: new Float32Array(0), rows: new Int32Array(0) }
    await expect(bytesOf([{ ...empty, ...lists, flag: new Uint8Array(2) }])).rejects.toThrow(/differ in length: 0, 2/)
    await expect(bytesOf([{ ...empty, ...lists, count: new Float32Array(0) }])).rejects.toThrow(/column count/)
    await expect(bytesOf([{ ...empty, ...lists, half: new Uint16Array(4) }])).rejects.toThrow(/column half/)
  })
})
