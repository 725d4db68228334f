/**
 * Near copies among the real logs (docs/datasets.md has the whole table): each merge named here was looked at by hand.
 */
import { existsSync } from 'node:fs'
import { beforeAll, describe, expect } from 'vitest'
import { importFiles } from '../../data/import/import-files.ts'
import { findNearDuplicates, type NearDuplicates } from '../../data/near-duplicates.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { itWithShared, sharedPath } from '../shared-folder.ts'

const FOLDERS = ['tau-bench', 'who-and-when', 'swe-agent', 'long/cipher-box', 'long/oh-my-posh']

describe('near copies among real logs', () => {
  let runs: readonly Trajectory[] = []
  let found: NearDuplicates = findNearDuplicates([])
  beforeAll(async () => {
    // Without the shared folder the tests below are skipped.
    if (!existsSync(sharedPath('trajectories'))) return
    runs = (await importFiles(FOLDERS.map((folder) => sharedPath('trajectories', folder)))).trajectories
    found = findNearDuplicates(runs)
  })

  const groupOf = (id: string): string | undefined =>
    found.groupOf.get(runs.find((run) => run.id.includes(id))?.group ?? '')

  itWithShared('join SWE-agent runs that carry a whole other run as their demonstration', () => {
    expect(groupOf('pydicom-1458')).toBe(groupOf('default_sys-env_window100'))
    expect(groupOf('swe-agent__test-repo-i1')).toBe(groupOf('pydicom-1458'))
    expect(groupOf('ctf__crypto__eps')).not.toBe(groupOf('ctf__crypto__katy'))
  })

  itWithShared('join the tau-bench tasks of one customer, and leave the other tasks apart', () => {
    const merged = found.merges.filter((merge) => merge.group.startsWith('tau-bench:'))
    expect(merged.map((merge) => merge.members.join(' '))).toEqual([
      'tau-bench:task-28 tau-bench:task-29',
      'tau-bench:task-33 tau-bench:task-40',
      'tau-bench:task-6 tau-bench:task-7',
    ])
  })

  itWithShared('join the Who&When runs that are one log under two questions, not all of one harness', () => {
    const merged = found.merges.filter((merge) => merge.group.startsWith('who-and-when:'))
    expect(merged.map((merge) => merge.because.map((pair) => pair.share))).toEqual([[1], [1]])
  })

  itWithShared('are few: no merge swallows a source', () => {
    const sizes = found.merges.map((merge) => merge.members.length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3)
    expect(new Set(found.groupOf.values()).size).toBeGreaterThan(200)
  })
})
