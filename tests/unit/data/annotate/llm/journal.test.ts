import { appendFile, chmod, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JournalAnswer } from '../../../../../data/annotate/llm/journal.schema.ts'
import { openJournal, readJournal } from '../../../../../data/annotate/llm/journal.ts'

let path = ''
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'keepready-journal-')), 'deep', 'journal')
})

function answer(key: string, text = 'yes'): JournalAnswer {
  const usage = { promptTokens: 3, cachedTokens: 0, outputTokens: 1 }
  return { kind: 'answer', key, outcome: { kind: 'text', text }, usage, counted: true }
}

async function written(...keys: readonly string[]): Promise<void> {
  const journal = await openJournal(path)
  await Promise.all(keys.map((key) => journal.append(answer(key))))
  await journal.close()
}

describe('a journal', () => {
  it('gives back what was appended, each entry a line, also of appends at the same time', async () => {
    const keys = Array.from({ length: 50 }, (_, k) => `key-${k}`)
    await written(...keys)
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toHaveLength(51)
    const journal = await openJournal(path)
    expect(keys.map((key) => journal.get(key))).toEqual(keys.map((key) => answer(key)))
    expect(journal).toMatchObject({ damagedLines: 0, tornBytes: 0 })
    await journal.close()
  })

  it('loses a torn last line and nothing else, wherever it is torn', async () => {
    await written('a', 'b')
    const whole = await readFile(path)
    const afterA = whole.indexOf(10, whole.indexOf(10) + 1) + 1
    for (let size = afterA + 1; size < whole.length; size += 7) {
      await writeFile(path, whole.subarray(0, size))
      const journal = await openJournal(path)
      expect([journal.get('a')?.key, journal.get('b'), journal.tornBytes]).toEqual(['a', undefined, size - afterA])
      await journal.append(answer('c'))
      await journal.close()
      expect((await readJournal(path))?.earlier.map(({ key }) => key)).toEqual(['a', 'c'])
    }
  })

  it('that was torn in its first line begins anew', async () => {
    await written()
    const header = await readFile(path)
    await writeFile(path, header.subarray(0, 9))
    await written('a')
    expect((await readJournal(path))?.get('a')).toEqual(answer('a'))
  })

  it('tells of whole lines it cannot read and keeps the rest', async () => {
    await written('a')
    await appendFile(path, `${JSON.stringify({ ...answer('b'), outcome: { kind: 'applause' } })}\nnot json\n`)
    await written('c')
    const journal = await openJournal(path)
    expect([journal.damagedLines, journal.get('b'), journal.get('c')?.key]).toEqual([2, undefined, 'c'])
    await journal.close()
  })

  it('belongs to its owner alone, also one that was opened to others', async () => {
    await written('a')
    await chmod(path, 0o644)
    await written('b')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('is no other file: those are left as they are', async () => {
    await written()
    for (const text of ['{"a": 1}\n', 'a line\nand another', 'no line break']) {
      await writeFile(path, text)
      await expect(openJournal(path)).rejects.toMatchObject({ code: 'rows-invalid' })
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  it('can be looked at without being made or changed', async () => {
    expect(await readJournal(path)).toBeNull()
    await written('a')
    await appendFile(path, '{"kind":"answ')
    const before = await readFile(path, 'utf8')
    expect((await readJournal(path))?.get('a')).toEqual(answer('a'))
    expect(await readFile(path, 'utf8')).toBe(before)
  })
})
