/**
 * The direction of imports and the purity of src/ (DESIGN section 4), read from the code itself.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../models/package-root.ts'

const ROOT = packageFile('.')
const FOLDERS = ['src', 'models', 'data', 'training', 'server'] as const
type Folder = (typeof FOLDERS)[number]

/** Who may import whom; src/cli is the composition root and may import all. */
const ALLOWED: Readonly<Record<Folder, readonly Folder[]>> = {
  src: ['src'],
  models: ['src', 'models'],
  data: ['src', 'models', 'data'],
  training: ['src', 'models', 'data', 'training'],
  server: ['src', 'models', 'server'],
}

/** Packages and builtins that a pure kernel may use: values in, values out. */
const PURE_PACKAGES = ['node:crypto', /^pure-rand\//]

const isCli = (file: string): boolean => file.startsWith('src/cli/')

interface Import {
  readonly from: string
  readonly specifier: string
  /** Path relative to the root when relative, else null. */
  readonly target: string | null
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort()
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => ({
    from: file,
    specifier: fileName,
    target: fileName.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), fileName)) : null,
  }))
}

const FILES = FOLDERS.flatMap(sourceFiles)
const IMPORTS = FILES.flatMap(importsOf)

describe('architecture', () => {
  it('reads enough files to mean something', () => {
    expect(FILES.length).toBeGreaterThan(20)
    expect(IMPORTS.length).toBeGreaterThan(FILES.length / 2)
  })

  it('lets imports go only along the data flow', () => {
    const wrong = IMPORTS.filter(({ from, target }) => {
      if (target === null || isCli(from)) return false
      const folder = from.split('/')[0] as Folder
      return !ALLOWED[folder].includes(target.split('/')[0] as Folder)
    })
    expect(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
  })

  it('lets nobody but bin import the command line', () => {
    const wrong = IMPORTS.filter(({ from, target }) => target !== null && isCli(target) && !isCli(from))
    expect(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
  })

  it('keeps src pure: no package or builtin with effects outside src/cli', () => {
    const wrong = IMPORTS.filter(
      ({ from, target, specifier }) =>
        target === null &&
        from.startsWith('src/') &&
        !isCli(from) &&
        !PURE_PACKAGES.some((pure) => (typeof pure === 'string' ? pure === specifier : pure.test(specifier))),
    )
    expect(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
  })

  it('keeps src pure: no clock, randomness, environment or console in the kernel', () => {
    const impure = /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|process\.|console\.|setTimeout|setInterval)/
    const wrong = FILES.filter((file) => file.startsWith('src/') && !isCli(file)).filter((file) =>
      impure.test(withoutComments(readFileSync(join(ROOT, file), 'utf8'))),
    )
    expect(wrong).toEqual([])
  })

  it('keeps zod at the boundary: only *.schema.ts files import it', () => {
    const wrong = IMPORTS.filter(({ from, specifier }) => specifier === 'zod' && !from.endsWith('.schema.ts'))
    expect(wrong.map(({ from }) => from)).toEqual([])
  })

  it('reads the environment in one file', () => {
    const readers = FILES.filter((file) => /process\.env/.test(withoutComments(readFileSync(join(ROOT, file), 'utf8'))))
    expect(readers.length).toBeLessThanOrEqual(1)
  })

  it('writes relative imports with their real ending and has no barrels', () => {
    const endless = IMPORTS.filter(({ specifier, target }) => target !== null && !specifier.endsWith('.ts'))
    expect(endless.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
    expect(FILES.filter((file) => file.endsWith('/index.ts') && file !== 'src/index.ts')).toEqual([])
    expect(FILES.filter((file) => /(^|\/)(utils|helpers|common|types)\.ts$/.test(file))).toEqual([])
  })

  it('keeps files readable: none above 400 lines', () => {
    const long = FILES.map((file) => ({
      file,
      lines: readFileSync(join(ROOT, file), 'utf8').split('\n').length,
    })).filter(({ file, lines }) => lines > (file.startsWith('src/tensor/') ? 600 : 400) && !isGenerated(file))
    expect(long).toEqual([])
  })

  it('has a README of at most 40 lines in each top-level folder', () => {
    for (const folder of FOLDERS) {
      const lines = readFileSync(join(ROOT, folder, 'README.md'), 'utf8')
        .trimEnd()
        .split('\n').length
      expect(lines, `${folder}/README.md`).toBeLessThanOrEqual(40)
    }
  })
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:])\/\/.*$/gm, '$1')
}

function isGenerated(file: string): boolean {
  return readFileSync(join(ROOT, file), 'utf8').startsWith('// Generated by')
}
