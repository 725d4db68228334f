import { test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { buildLiteralIndex } from '../../../src/evidence/literal-index.ts'
import { EVIDENCE_NAMES, evidenceFeatures, evidenceFeaturesFrom } from '../../../src/evidence/online-features.ts'
import { endCheckpoint, prefixAt, targetsAt } from '../../../src/trajectory/trajectory.ts'
import { arbitraryRun } from './arbitrary-run.ts'

describe('evidence features', () => {
  test.prop([arbitraryRun({ gaps: true })])('never look at anything at or after the checkpoint', (run) => {
    const index = buildLiteralIndex(run)
    for (let checkpoint = 0; checkpoint <= endCheckpoint(run); checkpoint++) {
      const prefix = prefixAt(run, checkpoint)
      const online = evidenceFeaturesFrom(buildLiteralIndex(prefix), checkpoint)
      expect(evidenceFeatures(run, checkpoint)).toEqual(online)
      expect(evidenceFeaturesFrom(index, checkpoint)).toEqual(online)
      const changedFuture = {
        ...run,
        interactions: run.interactions.map((interaction) =>
          interaction.index < checkpoint
            ? interaction
            : { ...interaction, reasoning: 'lit_a lit_b lit_c new_one 1234' },
        ),
      }
      expect(evidenceFeatures(changedFuture, checkpoint)).toEqual(online)
    }
  })

  test.prop([arbitraryRun({ gaps: true })])('have one finite row per target, in the order of targetsAt', (run) => {
    for (let checkpoint = 1; checkpoint <= endCheckpoint(run); checkpoint++) {
      const block = evidenceFeatures(run, checkpoint)
      expect(block.interactions).toEqual(targetsAt(run, checkpoint).map((target) => target.index))
      expect(block.values.length).toBe(block.interactions.length * EVIDENCE_NAMES.length)
      expect(block.values.every((value) => Number.isFinite(value) && value >= 0)).toBe(true)
    }
  })
})
