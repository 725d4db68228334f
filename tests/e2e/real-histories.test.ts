import { expect } from 'vitest'
import { type CheckpointTally, compactAtCheckpoints, realHistories } from '../fixtures/real-histories.ts'
import { itWithShared } from '../shared-folder.ts'

itWithShared(
  'no compaction of a real run, at four of its checkpoints, breaks a rule that the run kept',
  async () => {
    const tally: CheckpointTally = { checkpoints: 0, applied: 0, rejected: 0, unsummarised: 0, broken: [] }
    let runs = 0
    for await (const real of realHistories()) {
      runs += 1
      compactAtCheckpoints(real, tally, 4)
    }
    process.stdout.write(
      `${runs} histories, ${tally.checkpoints} checkpoints tried: ${tally.applied} compacted, ${tally.rejected} refused as they came, ${tally.unsummarised} without a summary\n`,
    )
    expect(tally.broken).toEqual([])
    expect(tally.unsummarised).toBeLessThan(tally.checkpoints / 100)
    expect(tally.applied).toBeGreaterThan(1000)
  },
  600_000,
)
