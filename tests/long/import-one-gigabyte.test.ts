import { expect, it } from 'vitest'
import { measureImport } from '../fixtures/import-rss.ts'

/** The same as for 100 MB (tests/e2e/import-memory.test.ts), and the collector's slack on a larger heap. */
const LIMIT_MB = 350

it.each(['chat-bodies', 'claude-code-session'] as const)('1 GB of %s is imported with flat memory', (kind) => {
  const { megabytes, runs } = measureImport(kind, 1e9)
  console.log(`1 GB of ${kind}: ${runs} runs, peak ${megabytes.toFixed(0)} MB`)
  expect(megabytes).toBeLessThan(LIMIT_MB)
})
