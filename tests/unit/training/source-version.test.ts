import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sourceVersion } from '../../../training/source-version.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keepready-source-'))
  writeFileSync(join(root, 'package.json'), '{"version":"1.2.3"}')
})
afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

function git(files: Readonly<Record<string, string>>): void {
  mkdirSync(join(root, '.git', 'refs', 'heads'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, '.git', name), text)
}

describe('sourceVersion', () => {
  it('is the package version where there is no repository', () => {
    expect(sourceVersion(root)).toBe('keepready 1.2.3')
  })

  it('is the commit of the branch, loose or packed, or of a detached head', () => {
    git({ HEAD: 'ref: refs/heads/main\n', 'refs/heads/main': `${COMMIT}\n` })
    expect(sourceVersion(root)).toBe(COMMIT)
    rmSync(join(root, '.git', 'refs', 'heads', 'main'))
    git({ 'packed-refs': `# pack-refs\n${COMMIT} refs/heads/main\n` })
    expect(sourceVersion(root)).toBe(COMMIT)
    git({ HEAD: `${COMMIT}\n` })
    expect(sourceVersion(root)).toBe(COMMIT)
  })

  it('is the package version in a repository without a commit', () => {
    git({ HEAD: 'ref: refs/heads/main\n' })
    expect(sourceVersion(root)).toBe('keepready 1.2.3')
  })
})
