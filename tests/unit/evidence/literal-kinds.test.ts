/**
 * Each class of literals on inputs that are easy to get wrong: what is one, and what only looks like one.
 */
import { describe, expect, it } from 'vitest'
import { LITERAL_CLASSES, type LiteralClass, scanLiterals } from '../../../src/evidence/literals.ts'

interface Case {
  readonly text: string
  /** All keys of the class that the text holds. */
  readonly keys: readonly string[]
}

function keysOf(kind: LiteralClass, text: string): readonly string[] {
  const keys: string[] = []
  scanLiterals(text, (literal) => {
    if (literal.kind === kind) keys.push(literal.key)
  })
  return keys
}

const is = (text: string, ...keys: readonly string[]): Case => ({ text, keys })
const none = (text: string): Case => ({ text, keys: [] })

const CASES: Readonly<Record<LiteralClass, readonly Case[]>> = {
  url: [
    is('(https://c.org/q?a=1&b=2#frag), <https://d.org/>', 'https://c.org/q?a=1&b=2#frag', 'https://d.org'),
    is(
      'see https://a.org/x. Then https://a.org/y; or "https://a.org/z"!',
      ...['x', 'y', 'z'].map((p) => `https://a.org/${p}`),
    ),
    is('[text](https://a.org/page_1) and {"u":"https://b.org/2"}', 'https://a.org/page_1', 'https://b.org/2'),
    is('HTTPS://EXAMPLE.ORG/Up', 'https://example.org/up'),
    is('https://a.org/x\\nnext', 'https://a.org/x'),
    is(
      's3://bucket/key.csv ftp://h.org/f file:///etc/passwd',
      's3://bucket/key.csv',
      'ftp://h.org/f',
      'file:///etc/passwd',
    ),
    is('\u8bf7\u770b https://a.org/x\uff0c\u7136\u540e', 'https://a.org/x'),
    is('https://\u4f8b\u5b50.org/\u8def', 'https://\u4f8b\u5b50.org/\u8def'),
    none('std::vector a://b http:// //comment www.example.org'),
  ],
  path: [
    is('path/to/file.ts:12-20 and src/b.ts(12,5)', 'path/to/file.ts', 'src/b.ts'),
    is('./d.js ../e ~/f /tmp/out/ node_modules/.bin', 'd.js', '../e', '~/f', '/tmp/out', 'node_modules/.bin'),
    is('C:\\Users\\ann\\a.txt', 'c:\\users\\ann\\a.txt'),
    is('"C:\\\\Users\\\\ann\\\\a.txt"', 'c:\\users\\ann\\a.txt'),
    is('\\\\server\\share\\a.txt', '\\\\server\\share\\a.txt'),
    is('C:\\new\\table', 'c:\\new\\table'),
    is('a/b/c', 'a/b/c'),
    is(
      '\u0434\u0430\u043d\u043d\u044b\u0435/\u0444\u0430\u0439\u043b.csv',
      '\u0434\u0430\u043d\u043d\u044b\u0435/\u0444\u0430\u0439\u043b.csv',
    ),
    none('and/or read/write TCP/IP w/o n/a 24/7'),
    none('12.3MB/s 40it/s 1.2k/3.4k 5%/10%'),
    none(`iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4/8/w38GIAXDIBKE0DHxgljNBAAO9`),
    none('\\n\\t\\r / // ...'),
  ],
  'file-name': [
    is('open src/App.ts:120:7, then .env and README.md', 'app.ts', '.env', 'readme.md'),
    is('(a.tar.gz) "b-1.whl"', 'a.tar.gz', 'b-1.whl'),
    is('C:\\x\\Notes.TXT', 'notes.txt'),
    is('\u0444\u0430\u0439\u043b.txt na\u00efve.md', '\u0444\u0430\u0439\u043b.txt', 'na\u00efve.md'),
    is('s3://bucket/k/data.csv', 'data.csv'),
    none('e.g. i.e. U.S.A. Ph.D. a.m. etc. No. 5. v1.2.3 3.14'),
    none('ann@example.org'),
    none('End of line.'),
  ],
  date: [
    is('2024-05-15, 5/15/2024 and 2024/05/15', '2024-05-15', '5/15/2024', '2024/05/15'),
    is('2024-05-15T10:20:30Z', '2024-05-15t10'),
    is('| 2024-01-01 |', '2024-01-01'),
    none('24/7 1/2 12:30 2024 10-20 15 May'),
  ],
  number: [
    is('$1,234.56 1,234,567 1_000_000 -500 +1234', '1234.56', '1234567', '1000000', '500', '1234'),
    is('#1234 [404] 12345.', '1234', '404', '12345'),
    is('1234,5678', '1234', '5678'),
    is('version 1.2.3 at 10.0.0.1:8080', '1.2.3', '10.0.0.1', '8080'),
    is('+1-555-010-9999', '1-555-010-9999'),
    none('12 of 99, 3.1, 45%, 7th, 1st'),
    none('lines 12-20, 10-12 h, file.ts:12-20'),
    none('HAT045 x86 3D'),
  ],
  id: [
    is('flight HAT045, issue-42, H1N1', 'hat045', 'issue-42', 'h1n1'),
    is('550e8400-e29b-41d4-a716-446655440000', '550e8400-e29b-41d4-a716-446655440000'),
    is('0xdeadbeef 3f2a9bc1d0', '0xdeadbeef', '3f2a9bc1d0'),
    is('mail ann.lee+x@example.co.uk now', 'ann.lee+x@example.co.uk'),
    is('\u001b[31mKey42\u001b[0m', 'key42'),
    none('10th 21st 102nd 3rd'),
    none('\u001b[31;1mred\u001b[0m \u001b[38;5;208mx \\u001b[01;34mbuild\\x1b[0m'),
    none('aGVsbG8gd29ybGQgdGhpcyBpcyBhIGxvbmcgbGluZSBvZiBiYXNlNjQgdGV4dCBmb3IgdGhl'),
    none('a1 v2 #@!'),
  ],
  symbol: [
    is(
      'user_id __init__ _private MAX_LEN getUser HTTPServer',
      ...['user_id', '__init__', '_private', 'max_len', 'getuser', 'httpserver'],
    ),
    is('self.max_steps obj.getItem()', 'max_steps', 'getitem'),
    is('caf\u00e9_bar \u03b1\u03b2_\u03b3', 'caf\u00e9_bar', '\u03b1\u03b2_\u03b3'),
    is('\\nfirst_name\\tlast_name', 'first_name', 'last_name'),
    is('\u8fd0\u884c user_id\u3002', 'user_id'),
    none('kebab-case Title URLs APIs PDFs ____ don_'),
  ],
  'error-name': [
    is('ENOENT: no such file; ECONNREFUSED', 'enoent', 'econnrefused'),
    is('java.io.IOException: x, NullPointerException', 'java.io.ioexception', 'nullpointerexception'),
    is('\u001b[31mKeyError\u001b[0m: 5', 'keyerror'),
    is('DeprecationWarning: old', 'deprecationwarning'),
    none('ERROR Error: Exception Warning EVERY EMAIL EMPTY ENTER EXAMPLE EITHER'),
  ],
  quoted: [
    is('he said "hello there" to `the dog`', 'hello there', 'the dog'),
    is(
      '\u201cblue one\u201d \u2018left one\u2019 \u00abone here\u00bb \u201edeutsch so\u201c',
      ...['blue one', 'left one', 'one here', 'deutsch so'],
    ),
    is("print('hello world'), x = 'it'", 'hello world'),
    is('{"id":null,"name":"Ann","c":1,"dd":"see"}', 'name', 'ann', 'see'),
    is('"""Doc text."""', 'doc text.'),
    is('"" "abc"', 'abc'),
    none("don't, isn't, the users' own, rock 'n' roll"),
    none('5" wide and 6" high'),
    none('"ab" "12" "1.5" "..."'),
    none('"spans\ntwo lines"'),
    none(`"${'long '.repeat(20)}end"`),
  ],
}

for (const kind of LITERAL_CLASSES) {
  describe(`literals of class ${kind}`, () => {
    for (const { text, keys } of CASES[kind]) {
      it(`${keys.length === 0 ? 'are not in' : 'are found in'}: ${JSON.stringify(text)}`, () => {
        expect([...keysOf(kind, text)].sort()).toEqual([...keys].sort())
      })
    }
  })
}

describe('literals', () => {
  it('are the same however a path is escaped, a number grouped or a word coloured', () => {
    const key = (kind: LiteralClass, text: string): string | undefined => keysOf(kind, text)[0]
    expect(key('path', 'C:\\\\Work\\\\a.ts')).toBe(key('path', 'c:\\work\\a.ts'))
    expect(key('number', '1,234,567')).toBe(key('number', '1_234_567'))
    expect(key('symbol', '\u001b[1mmax_len\u001b[0m')).toBe(key('symbol', 'max_len'))
    expect(key('path', './src/a.ts')).toBe(key('path', 'src/a.ts'))
  })

  it('do not let a terminal sequence glue or hide words around it', () => {
    expect(keysOf('symbol', 'a\u001b[0mfoo_bar\u001b[31mbar_baz')).toEqual(['foo_bar', 'bar_baz'])
  })
})
