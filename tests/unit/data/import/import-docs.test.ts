import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LOG_ENDINGS, WEAK_ENDINGS } from '../../../../data/import/find-logs.ts'
import { FORMAT_NAMES } from '../../../../data/import/importer.ts'
import { IMPORTERS } from '../../../../data/import/importers.ts'
import { ZIP_LIMITS } from '../../../../data/import/zip-archive.ts'
import { packageFile } from '../../../../models/package-root.ts'

const docs = readFileSync(packageFile('docs', 'import.md'), 'utf8')

describe('docs/import.md', () => {
  it('has one row for each importer, with its summary', () => {
    const rows = docs.split('\n').filter((line) => /^\| [a-z]/.test(line))
    for (const { name, summary } of IMPORTERS)
      expect(rows.filter((row) => row.startsWith(`| ${name} | ${summary} | `))).toHaveLength(1)
  })

  it('names every ending and the limits of archives', () => {
    for (const ending of [...LOG_ENDINGS, ...WEAK_ENDINGS]) expect(docs).toContain(`\`${ending}\``)
    expect(docs).toContain(`${ZIP_LIMITS.entries.toLocaleString('en-US')} entries`)
    expect(docs).toContain(`${ZIP_LIMITS.entryBytes / 2 ** 20} MiB`)
    expect(docs.replace(/\s+/g, ' ')).toContain(
      `${ZIP_LIMITS.totalBytes / 2 ** 30} GiB in all, a ratio above ${ZIP_LIMITS.ratio}`,
    )
  })
})

it('every format of the list has an importer, and no importer is registered twice', () => {
  expect(IMPORTERS.map((importer) => importer.name).sort()).toEqual([...FORMAT_NAMES].sort())
})
