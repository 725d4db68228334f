/**
 * What became of one file of an import: collected while it is read, plain data afterwards.
 */
import type { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { Damage, FormatName, ReadContext } from './importer.ts'

export interface FileReport {
  readonly file: string
  readonly format: FormatName | null
  /** Why it is of that format. */
  readonly evidence: string | null
  readonly runs: number
  readonly interactions: number
  /** Runs without any interaction: not written. */
  readonly emptyRuns: readonly string[]
  /** Records that were left out, or kept with a repair, in the order of the file. */
  readonly damage: readonly Damage[]
  /** Records that are no part of a run by their kind. */
  readonly ignored: Readonly<Record<string, number>>
  /** Secrets that were masked, by rule; empty without `redact`. */
  readonly redacted: Readonly<Record<string, number>>
  /** The same bytes were imported under this name already. */
  readonly copyOf: string | null
  /** Why the file as a whole gave nothing, or nothing further. */
  readonly error: AppError | null
}

/** A file of gigabytes that is all damage must not fill the memory: further ones are only counted. */
const MAX_KEPT_DAMAGE = 10_000

export interface FileCollector extends ReadContext {
  run(trajectory: Trajectory): void
  redacted(counts: Readonly<Record<string, number>>): void
  report(file: Pick<FileReport, 'file'> & Partial<FileReport>): FileReport
}

export function collectFile(options: { readonly allBranches: boolean }): FileCollector {
  const damage: Damage[] = []
  const emptyRuns: string[] = []
  const ignored = new Map<string, number>()
  const redacted = new Map<string, number>()
  let runs = 0
  let interactions = 0
  let dropped = 0
  return {
    allBranches: options.allBranches,
    damage(entry) {
      if (damage.length < MAX_KEPT_DAMAGE) damage.push(entry)
      else dropped += 1
    },
    ignore(kind, count = 1) {
      ignored.set(kind, (ignored.get(kind) ?? 0) + count)
    },
    run(trajectory) {
      if (trajectory.interactions.length === 0) emptyRuns.push(trajectory.id)
      else {
        runs += 1
        interactions += trajectory.interactions.length
      }
    },
    redacted(counts) {
      for (const [rule, count] of Object.entries(counts)) redacted.set(rule, (redacted.get(rule) ?? 0) + count)
    },
    report(file) {
      const place = (entry: Damage): number => entry.line ?? entry.index ?? -1
      const sorted = damage.toSorted((a, b) => place(a) - place(b))
      return {
        format: null,
        evidence: null,
        runs,
        interactions,
        emptyRuns,
        damage: dropped === 0 ? sorted : [...sorted, { reason: `${dropped} more damaged records are only counted` }],
        ignored: Object.fromEntries(ignored),
        redacted: Object.fromEntries(redacted),
        copyOf: null,
        error: null,
        ...file,
      }
    },
  }
}
