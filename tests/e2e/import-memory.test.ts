import { expect, it } from 'vitest'
import { measureImport } from '../fixtures/import-rss.ts'

/** 120 and 100 MB are taken for 10 MB of log; seen for 100 MB: 162 and 127. */
const LIMIT_MB = 260

it.each(['chat-bodies', 'claude-code-session'] as const)(
  '100 MB of %s are imported with the memory of the program and its largest run',
  (kind) => {
    const { megabytes, runs } = measureImport(kind, 100e6)
    expect(runs).toBeGreaterThan(0)
    expect(megabytes).toBeLessThan(LIMIT_MB)
  },
  120_000,
)
