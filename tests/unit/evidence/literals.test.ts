import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../models/package-root.ts'
import {
  LITERAL_CLASSES,
  type Literal,
  type LiteralClass,
  literalKeys,
  MAX_QUOTE_CHARS,
  MAX_WORD_CHARS,
  scanLiterals,
} from '../../../src/evidence/literals.ts'

function literalsOf(text: string): readonly Literal[] {
  const found: Literal[] = []
  scanLiterals(text, (literal) => found.push(literal))
  return found
}

/** class, text, keys of that class: the examples of docs/labels.md. */
const EXAMPLES: readonly (readonly [LiteralClass, string, readonly string[]])[] = [
  ['url', 'see https://Example.org/a?b=1.', ['https://example.org/a?b=1']],
  ['path', 'open src/App.ts:12 or /etc/hosts', ['src/app.ts', '/etc/hosts']],
  ['path', 'in C:\\Users\\ann\\notes.txt', ['c:\\users\\ann\\notes.txt']],
  ['file-name', 'open src/App.ts, then package.json and .gitignore', ['app.ts', 'package.json', '.gitignore']],
  ['date', 'on 2024-05-15 or 5/15/2024 at 2024-05-15T10:20', ['2024-05-15', '5/15/2024', '2024-05-15t10']],
  ['number', 'pay $1,234 of 987 in 12 parts of 3.14', ['1234', '987', '3.14']],
  ['id', 'flight HAT045, key 3f2a-99bc', ['hat045', '3f2a-99bc']],
  ['symbol', 'call user_id, getUser or self.max_steps', ['user_id', 'getuser', 'max_steps']],
  [
    'error-name',
    'ENOENT after a KeyError and requests.ConnectionError',
    ['enoent', 'keyerror', 'requests.connectionerror'],
  ],
  [
    'quoted',
    'say "Mia Li", `npm test`, \u201cblue one\u201d, \'left side\'',
    ['mia li', 'npm test', 'blue one', 'left side'],
  ],
]

/** Rows of the table of literal classes: class, example, literals. */
const DOCUMENTED = readFileSync(packageFile('docs', 'labels.md'), 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, name = '']) => LITERAL_CLASSES.some((kind) => name.split(' ')[0] === kind))

describe('literals', () => {
  it('are documented class by class', () => {
    expect(DOCUMENTED.map(([, name = '']) => name.split(' ')[0])).toEqual([...LITERAL_CLASSES])
  })

  for (const [, name = '', example = '', literals = ''] of DOCUMENTED) {
    it(`are as docs/labels.md says: ${example}`, () => {
      const kind = name.split(' ')[0]
      const found = literalsOf(example.slice(1, -1)).filter((literal) => literal.kind === kind)
      expect(found.map((literal) => `\`${literal.key}\``).join(', ')).toBe(literals)
    })
  }

  for (const [kind, text, keys] of EXAMPLES) {
    it(`finds ${kind} literals in: ${text}`, () => {
      const found = literalsOf(text).filter((literal) => literal.kind === kind)
      expect(found.map((literal) => literal.key).sort()).toEqual([...keys].sort())
    })
  }

  it('finds nothing in plain prose, small numbers and alternatives', () => {
    const text =
      "We don't know and/or can't say, e.g. the 2nd of 12 items; it's the users' choice - well-known. i.e. fine. Error: none. Warning"
    expect(literalsOf(text)).toEqual([])
  })

  it('keeps the spelling beside the lower-cased key', () => {
    expect(literalsOf('getUserName')).toEqual([{ key: 'getusername', spelling: 'getUserName', kind: 'symbol' }])
  })

  it('does not glue words together at escaped line breaks', () => {
    expect(literalKeys('first_name\\nlast_name\\tmid_name')).toEqual(new Set(['first_name', 'last_name', 'mid_name']))
  })

  it('drops punctuation around a word but keeps what roots a path', () => {
    expect(literalKeys('(--max_steps), ./src/a.ts. ~/x.md /tmp/out/')).toEqual(
      new Set(['max_steps', 'src/a.ts', 'a.ts', '~/x.md', 'x.md', '/tmp/out']),
    )
  })

  it('skips words and quotations over their limits', () => {
    expect(literalKeys(`${'a1'.repeat(MAX_WORD_CHARS)}`)).toEqual(new Set())
    expect(literalKeys(`"${'word '.repeat(MAX_QUOTE_CHARS / 5)}end"`)).toEqual(new Set())
  })

  it('does not pair quotes across lines or around blanks', () => {
    expect(literalKeys('5" wide and 6" high\n"next line"')).toEqual(new Set(['next line']))
  })

  it('reads a number of 1 MB whose last group is too long', () => {
    expect(literalsOf(`1${',234'.repeat(262_144)}5`).length).toBeLessThan(10)
  })

  it('reads 1 MB more in about the same number of literals per character', () => {
    const page = 'see src/app.ts:120 for user_id "Mia Li" and HAT045\n'
    const count = (pages: number): number => literalsOf(page.repeat(pages)).length
    expect(count(20_000)).toBe(count(1) * 20_000)
  })

  // A quadratic pattern would need 10^12 steps for 1 MB of these; the test ends only if reading is linear.
  const HOSTILE: readonly (readonly [string, string])[] = [
    ['letters', 'a'],
    ['digits', '1'],
    ['digit groups', '1,234'],
    ['underscores', '_'],
    ['snake', 'a_'],
    ['slashes', '/'],
    ['segments', 'a/'],
    ['dots', '.'],
    ['dotted', 'a.'],
    ['double quotes', '"'],
    ['open quotes', '"aaa'],
    ['single quotes', " 'a"],
    ['back quotes', '`a '],
    ['backslashes', '\\'],
    ['drive paths', 'C:\\a'],
    ['urls', 'http://'],
    ['blanks', ' '],
    ['camel', 'aB'],
    ['hyphens', '-'],
    ['accents', '\u00e9'],
  ]
  for (const [name, unit] of HOSTILE) {
    it(`reads 1 MB of ${name}, a bounded number of literals coming out`, () => {
      const text = unit.repeat(Math.ceil(1_048_576 / unit.length))
      expect(literalsOf(text).length).toBeLessThanOrEqual(text.length / 3)
    }, 10_000)
  }
})
