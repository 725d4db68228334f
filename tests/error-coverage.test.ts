/**
 * The closed list of errors stays closed and alive: every code is raised by the product, caused by a test (not only
 * constructed by one), has a status and a remedy, and is documented.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../models/package-root.ts'
import { renderErrorDocs } from '../scripts/error-docs.ts'
import { HTTP_STATUS } from '../server/http-errors.ts'
import { ERROR_REMEDY } from '../src/error-remedies.ts'
import { ERROR_FAMILY } from '../src/errors.ts'

const CODES = Object.keys(ERROR_FAMILY)
const CONSTRUCTED = /new AppError\(\s*'[a-z-]+'/g

function textOf(folders: readonly string[], keep: (file: string) => boolean): string {
  return folders
    .flatMap((folder) =>
      readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && keep(name))
        .map((name) => readFileSync(packageFile(folder, name), 'utf8')),
    )
    .join('\n')
}

describe('error codes', () => {
  it('are each raised somewhere', () => {
    const raised = new Set(textOf(['src', 'models', 'data', 'training', 'server'], () => true).match(CONSTRUCTED))
    const names = new Set([...raised].map((match) => match.match(/'(.*)'/)?.[1]))
    expect(CODES.filter((code) => !names.has(code))).toEqual([])
  })

  it('are each expected by a test that causes them', () => {
    const tests = textOf(['tests'], (file) => file.endsWith('.test.ts') && file !== 'error-coverage.test.ts')
    const expectations = tests.replace(CONSTRUCTED, '')
    const untested = CODES.filter((code) => !expectations.includes(`'${code}'`) && !expectations.includes(`[${code}`))
    expect(untested).toEqual([])
  })

  it('have an HTTP status and a sentence that says what helps', () => {
    expect(Object.keys(HTTP_STATUS).sort()).toEqual([...CODES].sort())
    expect(Object.keys(ERROR_REMEDY).sort()).toEqual([...CODES].sort())
    for (const remedy of Object.values(ERROR_REMEDY)) expect(remedy).toMatch(/^[A-Z].*\.$/)
  })

  it('stand in docs/errors.md as generated', () => {
    const hint = 'run npx tsx scripts/generate-error-docs.ts and commit docs/errors.md'
    expect(readFileSync(packageFile('docs', 'errors.md'), 'utf8'), hint).toBe(renderErrorDocs())
  })
})
