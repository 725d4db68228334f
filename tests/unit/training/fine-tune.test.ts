import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Dataset } from '../../../data/store/dataset.ts'
import { readRotation, readRouter } from '../../../models/router/artefact.ts'
import { forwardLogit } from '../../../models/router/forward.ts'
import { hashGroup } from '../../../models/router/group-hash.ts'
import { probeRow } from '../../../models/router/probe.ts'
import { dealParts, freshGroups } from '../../../training/deal-parts.ts'
import { evaluate } from '../../../training/evaluate.ts'
import { readRouterPredictions } from '../../../training/evaluation/router-predictions.ts'
import { startingRouterScores } from '../../../training/evaluation/starting-router.ts'
import { runInline } from '../../../training/inline-runner.ts'
import { pairInputs } from '../../../training/probe-rows.ts'
import { type TrainRequest, trainRouter } from '../../../training/train.ts'
import { syntheticDataset, syntheticTrajectories } from '../../fixtures/synthetic-dataset.ts'

/** The runs of the smaller ones come first in the larger ones, number for number. */
const SMALL = { hiddenSize: 4, minLength: 6, maxLength: 8 }
const older = syntheticDataset({ ...SMALL, groups: 12 })
const newer = syntheticDataset({ ...SMALL, groups: 24 })
const newest = syntheticDataset({ ...SMALL, groups: 33 })
const isOld = (group: string): boolean => older.trajectories.some((run) => run.group === group)

let directory: string
const path = (name: string): string => join(directory, name)
const request = (dataset: Dataset, out: string, changed: Partial<TrainRequest> = {}): TrainRequest => ({
  dataset,
  out: path(out),
  inputs: 'auto',
  overrides: { epochs: 2 },
  runJobs: runInline,
  node: 'test',
  source: 'test',
  ...changed,
})
const tune = (dataset: Dataset, changed: Partial<TrainRequest> = {}, out = 'tuned') =>
  trainRouter(request(dataset, out, { from: path('older'), ...changed }))

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keepready-fine-tune-'))
  await trainRouter(request(older, 'older', { inputs: 'hidden+evidence', overrides: { epochs: 2, width: 8 } }))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('fine-tuning', () => {
  it('tests and validates on groups that the old router never saw, and trains on the others too', async () => {
    const manifest = await tune(newer)
    const seen = new Set(manifest.parent?.seenGroups)
    expect(seen).toEqual(new Set(older.trajectories.map(({ group }) => hashGroup(group))))
    const tested = new Set<string>()
    for (let rotation = 0; rotation < 5; rotation++) {
      const { groups } = readRotation(path('tuned'), { rotation, inputs: 'hidden+evidence' })
      for (const group of [...(groups?.test ?? []), ...(groups?.validation ?? [])]) expect(seen).not.toContain(group)
      for (const group of seen) expect(groups?.training).toContain(group)
      for (const group of groups?.test ?? []) tested.add(group)
    }
    expect(tested.size).toBe(10)
    expect(manifest.parent).toMatchObject({ freshGroups: 12 })
    expect(manifest.parent?.parametersSha256).toBe(readRouter(path('older')).manifest.parametersSha256)
    expect(manifest.spec).toEqual(readRouter(path('older')).spec)
    expect(manifest.standardisation).toEqual(readRouter(path('older')).manifest.standardisation)
  })

  it('starts from the old parameters: the baseline predictions are those of the old router', async () => {
    await tune(newer)
    const { spec, parameters } = readRouter(path('older'))
    for (const rotation of [0, 3]) {
      const { startPredictions, testPredictions } = readRotation(path('tuned'), { rotation, inputs: spec.inputs })
      expect(startPredictions?.pairs).toEqual(testPredictions.pairs)
      expect(startPredictions?.logits).not.toEqual(testPredictions.logits)
      const pairs = startPredictions?.pairs ?? []
      const probe = { inputs: pairInputs(newer, spec, pairs), logits: new Float32Array(pairs.length), pairs }
      startPredictions?.logits.forEach((logit, row) => {
        expect(Math.abs(logit - forwardLogit(spec, parameters, probeRow(spec, probe, row)))).toBeLessThan(1e-5)
      })
    }
  })

  it('keeps the old router in the manifest beside the new one, per rotation and for the final model', async () => {
    const manifest = await tune(newer)
    for (const { start, test } of manifest.rotations) {
      expect(start?.test).toMatchObject({ pairs: test.pairs, positives: test.positives })
      expect(start?.test.lossNats).not.toBe(test.lossNats)
    }
    expect(manifest.parent?.validation).toMatchObject({ pairs: manifest.validation.pairs })
  })

  it('is evaluated beside the router it started from, on the same test pairs', async () => {
    await tune(newer)
    const { manifest, parts, predictions } = readRouterPredictions(path('tuned'), newer)
    const record = await evaluate({
      dataset: newer,
      trajectories: syntheticTrajectories(newer),
      parts,
      router: { directory: path('tuned'), served: manifest.spec.inputs },
      predictions,
      seed: 1,
      resamples: 100,
    })
    const auroc = (name: string): number | null | undefined =>
      record.predictors.find((one) => one.name === name)?.subsets.all.scopes[0]?.metrics.withinAuroc.value
    const means = manifest.rotations.map(({ start }) => start?.test.withinAuroc ?? 0)
    expect(auroc('starting-router')).toBeCloseTo(means.reduce((sum, value) => sum + value, 0) / 5, 9)
    expect(auroc('hidden+evidence')).not.toBe(auroc('starting-router'))
    expect(record.comparisons.some(({ a, b }) => a === 'hidden+evidence' && b === 'starting-router')).toBe(true)
    expect(startingRouterScores([], [])).toBeNull()
    const cut = predictions.map((one) => ({ ...one, start: { pairs: [], logits: [] } }))
    await expect(
      evaluate({
        dataset: newer,
        trajectories: syntheticTrajectories(newer),
        parts,
        router: { directory: path('tuned'), served: manifest.spec.inputs },
        predictions: cut,
        seed: 1,
        resamples: 100,
      }),
    ).rejects.toMatchObject({ code: 'router-invalid' })
  })

  it('remembers what a router before the old one saw', async () => {
    await tune(newer)
    // The third dataset holds none of the first one's runs, but its groups stay seen.
    const manifest = await tune(newest, { from: path('tuned') }, 'third')
    expect(manifest.parent).toMatchObject({ freshGroups: 9 })
    expect(manifest.parent?.seenGroups).toHaveLength(24)
    expect(manifest.groups.training).toEqual(expect.arrayContaining([...(manifest.parent?.seenGroups ?? [])]))
  })

  it('refuses a dataset without enough groups that are new, and says how many are left', async () => {
    await expect(tune(older)).rejects.toMatchObject({
      code: 'training-data-insufficient',
      message: expect.stringContaining('0 of the 12 groups of /synthetic are left'),
    })
    await expect(tune(syntheticDataset({ ...SMALL, groups: 16 }))).rejects.toMatchObject({
      code: 'training-data-insufficient',
      details: { groups: 16, fresh: 4, limit: 6 },
    })
  })

  it.each([
    ['--inputs', { inputs: 'evidence' }],
    ['--width', { overrides: { width: 4 } }],
    ['--hidden-scale', { overrides: { hiddenScale: 7 } }],
  ] as const)('refuses %s of another router', async (option, changed) => {
    await expect(tune(newer, changed)).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining(`leave ${option} out`),
    })
  })

  it('refuses another representation and other evidence by name', async () => {
    const manifest = (changed: object): Dataset => ({ ...newer, manifest: { ...newer.manifest, ...changed } })
    const representation = { ...newer.manifest.representation, layer: 2 }
    await expect(tune(manifest({ representation }))).rejects.toMatchObject({
      code: 'representation-mismatch',
      message: expect.stringContaining('layer: router 1, here 2'),
    })
    await expect(tune(manifest({ evidenceNames: ['age', 'relative-position', 'other'] }))).rejects.toMatchObject({
      code: 'representation-mismatch',
      message: expect.stringContaining('[age, relative-position, other] here'),
    })
  })
})

describe('dealParts', () => {
  it('takes a group that was merged with a seen one for seen', () => {
    const [first] = newer.trajectories.slice(-1)
    const group = first?.group ?? ''
    const groupMerges = [{ group, members: [group, 'swe-agent/before'], because: [] }]
    const merged = { ...newer, manifest: { ...newer.manifest, groupMerges } }
    const seenGroups = [hashGroup('swe-agent/before')]
    expect(freshGroups(newer, seenGroups).has(group)).toBe(true)
    expect(freshGroups(merged, seenGroups).has(group)).toBe(false)
    expect(dealParts(merged, 1, { seenGroups }).get(group)).toBe(6)
  })

  it('deals as ever where training starts from nothing', () => {
    const parts = dealParts(newer, 1, null)
    expect([...parts.values()].every((part) => part < 6)).toBe(true)
    expect([...parts.keys()].some(isOld)).toBe(true)
  })
})
