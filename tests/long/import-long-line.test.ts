/** One line of 200 MB, as a pasted file or a base64 blob makes it, among good ones. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type ImportResult, importFiles } from '../../data/import/import-files.ts'
import { withFolder } from '../fixtures/import-log.ts'

const MB = 1 << 20
const body = (content: string): string =>
  JSON.stringify({
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'go' },
      { role: 'assistant', content },
    ],
  })

/** A good line, one of `megabytes` (cut off by `torn` characters), and a good line. */
function importAround(megabytes: number, torn: number): Promise<ImportResult> {
  return withFolder({}, (folder) => {
    const path = `${folder}/x.jsonl`
    const [before = '', after = ''] = body('|').split('|')
    writeFileSync(path, `${body('first')}\n${before}`)
    const piece = 'a long line of "text" with escapes\\n'.replaceAll('"', '\\"').repeat(MB >> 5)
    for (let written = 0; written < megabytes * MB; written += piece.length) appendFileSync(path, piece)
    appendFileSync(path, `${after.slice(0, after.length - torn)}\n${body('last')}\n`)
    return importFiles([path])
  })
}

const lengths = (result: ImportResult): readonly number[] =>
  result.trajectories.map((run) => run.interactions[0]?.text.length ?? 0)

it('is read whole, and so are its neighbours', async () => {
  const result = await importAround(200, 0)
  expect(result.files[0]?.damage).toEqual([])
  const [first, long, last] = lengths(result)
  expect([first, last]).toEqual([5, 4])
  expect(long).toBeGreaterThan(150 * MB)
})

it('is reported and left out when it is torn', async () => {
  const result = await importAround(200, 2)
  expect(lengths(result)).toEqual([5, 4])
  expect(result.files[0]?.damage).toEqual([{ line: 2, reason: expect.stringContaining('no whole JSON record') }])
})

it('is reported and left out above the limit', async () => {
  const result = await importAround(300, 0)
  expect(lengths(result)).toEqual([5, 4])
  expect(result.files[0]?.damage).toEqual([{ line: 2, reason: expect.stringContaining('longer than the limit') }])
})
