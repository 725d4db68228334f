/**
 * The parts of the test runs that are reported on their own: all, each domain, and thirds by length.
 */
import type { TestRun } from './rotation-test.ts'
import type { Scope } from './scope-statistics.ts'

export function scopesOf(runs: readonly TestRun[]): readonly Scope[] {
  const domains = [...new Set(runs.map((run) => run.domain))].sort()
  return [
    { kind: 'all', name: 'all', contains: () => true },
    ...domains.map(
      (domain): Scope => ({ kind: 'domain', name: domain, contains: (run: TestRun) => run.domain === domain }),
    ),
    ...lengthScopes(runs),
  ]
}

/** Thirds of the runs by number of interactions; bounds are those of the runs, equal lengths stay together. */
function lengthScopes(runs: readonly TestRun[]): readonly Scope[] {
  const lengths = runs.map((run) => run.length).sort((a, b) => a - b)
  const bounds = [lengths[Math.floor(lengths.length / 3)] ?? 0, lengths[Math.floor((2 * lengths.length) / 3)] ?? 0]
  const [low = 0, high = 0] = bounds
  if (lengths.length < 3 || low === high || low === lengths[0]) return []
  return [
    { kind: 'length', name: `N < ${low}`, contains: (run) => run.length < low },
    { kind: 'length', name: `${low} <= N < ${high}`, contains: (run) => run.length >= low && run.length < high },
    { kind: 'length', name: `N >= ${high}`, contains: (run) => run.length >= high },
  ]
}
