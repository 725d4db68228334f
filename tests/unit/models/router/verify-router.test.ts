import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Dataset } from '../../../../data/store/dataset.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { readRotation, readRouter } from '../../../../models/router/artefact.ts'
import {
  PARAMETERS_FILE,
  PROBE_FILE,
  parameterTensors,
  ROTATION_FILE,
} from '../../../../models/router/artefact-files.ts'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import { readProbe, writeProbe } from '../../../../models/router/probe.ts'
import { verifyRouter } from '../../../../models/router/verify-router.ts'
import { writeSafetensors } from '../../../../models/safetensors.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { trainRouter } from '../../../../training/train.ts'
import { verifyAgainstDataset } from '../../../../training/verify-against-dataset.ts'
import { hashFileOf } from '../../../fixtures/router-files.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const VERSION_1 = packageFile('tests', 'fixtures', 'routers', 'version-1')
const dataset = syntheticDataset({ groups: 12, hiddenSize: 4, minLength: 6, maxLength: 7 })

let folder: string
let router: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keepready-verify-'))
  await trainRouter({
    dataset,
    out: join(folder, 'good'),
    inputs: 'auto',
    overrides: { width: 4, epochs: 2 },
    runJobs: runInline,
    node: 'test',
    source: 'test',
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeEach(() => {
  router = join(folder, 'router')
  cpSync(join(folder, 'good'), router, { recursive: true })
})
afterEach(() => rmSync(router, { recursive: true, force: true }))

const path = (...names: readonly string[]): string => join(router, ...names)

function editJson(file: string, edit: (json: Record<string, unknown>) => void): void {
  const json = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  edit(json)
  writeFileSync(file, JSON.stringify(json))
}

/** Makes router.json name the files as they are now: what is left is what no hash sees. */
function rehash(): void {
  editJson(path('router.json'), (json) => {
    json.parametersSha256 = hashFileOf(path(PARAMETERS_FILE))
    json.probeSha256 = hashFileOf(path(PROBE_FILE))
    for (const entry of json.rotations as Record<string, unknown>[])
      entry.recordSha256 = hashFileOf(path('rotations', String(entry.rotation), String(entry.inputs), ROTATION_FILE))
  })
}

const findings = async (): Promise<string> => (await verifyRouter(router)).findings.join('\n')

describe('verifyRouter', () => {
  it("finds nothing wrong with what train wrote: hashes, rotations and three ways to the trainer's logits", async () => {
    const result = await verifyRouter(router)
    expect(result).toMatchObject({ schemaVersion: 2, rotations: 15, findings: [] })
    expect(result.hashedFiles).toBe(2 + 2 * 15)
    expect(result.parity).toMatchObject({ source: 'stored' })
    const ways = result.parity?.differences.map(({ by }) => by)
    const { inputs } = readRouter(router).spec
    expect(ways).toEqual([
      'dense scorer',
      ...(inputs === 'evidence' ? [] : ['projected scorer']),
      'float64 forward pass',
    ])
    for (const { relative } of result.parity?.differences ?? []) expect(relative).toBeLessThan(1e-5)
  })

  it('reads an artefact of schema version 1, and compares the ways with each other there', async () => {
    const result = await verifyRouter(VERSION_1)
    expect(result).toMatchObject({ schemaVersion: 1, rotations: 5, hashedFiles: 1, findings: [] })
    expect(result.parity).toMatchObject({ rows: 48, source: 'made' })
    expect(result.parity?.differences.map(({ by }) => by)).toContain('projected scorer')
    const { manifest } = readRouter(VERSION_1)
    expect(manifest.means[1]).toMatchObject({ split: 'test', withinAuroc: { rotations: 5 } })
    expect(readRotation(VERSION_1, { rotation: 3, inputs: 'hidden+evidence' }).groups).toBeNull()
  })

  it.each<readonly [string, () => void, RegExp]>([
    ['parameters are cut', () => truncateSync(path(PARAMETERS_FILE), 300), /router\.safetensors/],
    ['parameters are missing', () => rmSync(path(PARAMETERS_FILE)), /router\.safetensors/],
    ['probe rows are missing', () => rmSync(path(PROBE_FILE)), /probe\.safetensors .*does not exist/],
    ['probe rows are cut', () => truncateSync(path(PROBE_FILE), 200), /probe\.safetensors/],
    [
      'a record was edited',
      () =>
        editJson(path('rotations', '2', 'evidence', ROTATION_FILE), (json) => {
          json.bestEpoch = 99
        }),
      /rotations\/2\/evidence\/rotation\.json: its SHA-256/,
    ],
    ['a record is no JSON', () => writeFileSync(path('rotations', '0', 'hidden', ROTATION_FILE), '{'), /no JSON/],
    [
      'a rotation is missing',
      () => rmSync(path('rotations', '1', 'hidden'), { recursive: true }),
      /rotations\/1\/hidden\/rotation\.json .*does not exist/,
    ],
    [
      'a rotation has parameters of another one',
      () =>
        cpSync(path('rotations', '0', 'hidden', PARAMETERS_FILE), path('rotations', '1', 'hidden', PARAMETERS_FILE)),
      /rotations\/1\/hidden\/router\.safetensors .*SHA-256/,
    ],
    [
      'a folder belongs to nothing',
      () => mkdirSync(path('rotations', '7', 'hidden'), { recursive: true }),
      /belongs to no/,
    ],
  ])('names what is wrong when %s', async (_, damage, text) => {
    damage()
    expect(await findings()).toMatch(text)
  })

  it('refuses rotation folders that were swapped', async () => {
    renameSync(path('rotations', '0'), path('rotations', 'x'))
    renameSync(path('rotations', '1'), path('rotations', '0'))
    renameSync(path('rotations', 'x'), path('rotations', '1'))
    expect(await findings()).toContain('folders were moved or swapped')
    expect(() => readRotation(router, { rotation: 0, inputs: 'hidden' })).toThrowError(
      expect.objectContaining({ code: 'router-invalid' }),
    )
  })

  it('sees parameters that are sound but not the trained ones, by parity alone', async () => {
    const { spec } = readRouter(router)
    writeSafetensors(path(PARAMETERS_FILE), parameterTensors(spec, initialiseRouter(spec, 77)))
    rehash()
    expect(await findings()).toMatch(/the dense scorer differs by .* from the expected logit/)
  })

  it('sees parameters that are not finite', async () => {
    const { spec, parameters } = readRouter(router)
    const b2 = Float32Array.of(Number.NaN)
    writeSafetensors(path(PARAMETERS_FILE), parameterTensors(spec, { ...parameters, b2 }))
    rehash()
    expect(await findings()).toContain('not finite')
  })

  it('sees means and figures that are not those of the rotations, and test groups that were trained on', async () => {
    editJson(path('rotations', '0', 'evidence', ROTATION_FILE), (json) => {
      const groups = json.groups as Record<string, string[]>
      groups.test = [...(groups.test ?? []), groups.training?.[0] ?? '']
    })
    editJson(path('rotations', '1', 'evidence', ROTATION_FILE), (json) => {
      json.test = { ...(json.test as object), pairs: 1000 }
    })
    editJson(path('router.json'), (json) => {
      json.means = (json.means as unknown[]).slice(1)
    })
    rehash()
    const text = await findings()
    expect(text).toMatch(/rotations\/0\/evidence\/rotation\.json: test groups [0-9a-f]{16} are also among those/)
    expect(text).toContain('rotations/1/evidence/rotation.json: its test is not the one in router.json')
    expect(text).toContain('means in router.json are not those of its rotations')
  })

  it('throws where router.json itself cannot be read', async () => {
    writeFileSync(path('router.json'), 'no json')
    await expect(verifyRouter(router)).rejects.toMatchObject({ code: 'router-invalid' })
    await expect(verifyRouter(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'file-not-found' })
  })
})

describe('verifyAgainstDataset', () => {
  it('recomputes held-out predictions of every rotation from the dataset', () => {
    const check = verifyAgainstDataset(router, dataset)
    expect(check).toMatchObject({ rotations: 15, findings: [] })
    expect(check.recomputed).toBeGreaterThan(15 * 15)
    expect(check.largestDifference).toBeLessThan(1e-5)
    // Five test parts of ten of the twelve groups, three input kinds.
    const testable = dataset.pairs.count - check.testPairs / 3
    expect(testable).toBeGreaterThan(0)
    expect(verifyAgainstDataset(VERSION_1, dataset)).toMatchObject({ rotations: 5, findings: [] })
  })

  it("names predictions of a group that is not in the test part, and those that are not its model's", () => {
    const file = (rotation: number): string => path('rotations', String(rotation), 'hidden', ROTATION_FILE)
    const trained = readRotation(router, { rotation: 1, inputs: 'hidden' }).testPredictions.pairs[0]
    editJson(file(0), (json) => {
      const predictions = json.testPredictions as { pairs: (number | undefined)[] }
      predictions.pairs[0] = trained
    })
    editJson(file(2), (json) => {
      const predictions = json.testPredictions as { logits: number[] }
      predictions.logits[0] = 5
    })
    const { findings: found } = verifyAgainstDataset(router, dataset)
    expect(found).toHaveLength(2)
    expect(found[0]).toMatch(/rotation 0 of hidden: 1 test predictions are of groups that are not in its test part/)
    expect(found[1]).toMatch(/rotation 2 of hidden: its held-out predictions differ by/)
  })

  it("names probe rows that are not the dataset's", () => {
    const { spec } = readRouter(router)
    const probe = readProbe(path(PROBE_FILE), spec)
    writeProbe(path(PROBE_FILE), spec, { ...probe, pairs: probe.pairs?.map((pair) => pair + 1) ?? [] })
    rehash()
    expect(verifyAgainstDataset(router, dataset).findings).toEqual([expect.stringContaining('the probe rows are not')])
  })

  it('refuses another dataset by what differs', () => {
    const inputs = { ...dataset.manifest.inputs, labelsSha256: '1'.repeat(64) }
    const other: Dataset = { ...dataset, manifest: { ...dataset.manifest, inputs } }
    expect(() => verifyAgainstDataset(router, other)).toThrowError(
      expect.objectContaining({ code: 'option-invalid', message: expect.stringContaining('labels') }),
    )
  })
})
