import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../../models/package-root.ts'
import type { RouterManifest } from '../../../../models/router/manifest.ts'
import { parseRotationRecord, parseRouterManifest } from '../../../../models/router/router.schema.ts'

const folder = packageFile('tests', 'fixtures', 'routers', 'version-1')
const text = readFileSync(join(folder, 'router.json'), 'utf8')
const record = readFileSync(join(folder, 'rotations', '0', 'hidden+evidence', 'rotation.json'), 'utf8')

interface Json {
  [key: string]: unknown
  spec: Json
  standardisation: Json
  operatingPoints: Json
  quantiles: Json
}

/** The fixture as a document of this version. */
function parseEdited(edit: (json: Json) => void): RouterManifest {
  const json = JSON.parse(text) as Json
  edit(json)
  return parseRouterManifest('router.json', JSON.stringify(json))
}

const refused = (edit: (json: Json) => void, message: string): void =>
  expect(() => parseEdited(edit)).toThrowError(
    expect.objectContaining({ code: 'router-invalid', message: expect.stringContaining(message) }),
  )

describe('router schema versions', () => {
  it('reads version 1, with null for what it lacks and means computed', () => {
    const manifest = parseEdited(() => undefined)
    expect(manifest).toMatchObject({ schemaVersion: 1, parent: null, probeSha256: null })
    expect(manifest.rotations[0]).toMatchObject({ recordSha256: null, start: null })
    const values = manifest.rotations.map(({ test }) => test.withinAuroc ?? 0)
    const mean = values.reduce((sum, value) => sum + value, 0) / 5
    const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 4)
    expect(manifest.means[1]?.withinAuroc?.mean).toBeCloseTo(mean, 12)
    expect(manifest.means[1]?.withinAuroc?.standardDeviation).toBeCloseTo(spread, 12)
    expect(parseRotationRecord('rotation.json', record)).toMatchObject({ schemaVersion: 1, groups: null })
  })

  it('refuses a newer version by name and says what to do', () => {
    for (const parse of [
      () => parseEdited((json) => Object.assign(json, { schemaVersion: 3 })),
      () => parseRotationRecord('rotation.json', record.replace('"schemaVersion": 1', '"schemaVersion": 3')),
    ])
      expect(parse).toThrowError(
        expect.objectContaining({
          code: 'router-version-unsupported',
          message: expect.stringMatching(/schema version 3, this keepready reads versions 1 to 2: update keepready/),
          details: expect.objectContaining({ version: 3, supported: 2 }),
        }),
      )
  })

  it('refuses a version 2 without what version 2 has', () => {
    refused((json) => Object.assign(json, { schemaVersion: 2 }), 'rotations.0.recordSha256')
  })
})

describe('a manifest put together from two routers', () => {
  it.each<readonly [string, (json: Json) => void, string]>([
    ['a hidden size of another model', ({ spec }) => Object.assign(spec, { hiddenSize: 8 }), 'spec.hiddenSize is 8'],
    [
      'a block too many',
      ({ spec }) => Object.assign(spec, { inputs: 'hidden' }),
      'standardisation has blocks [h,m,q,x]',
    ],
    [
      'a short standardisation',
      ({ standardisation }) => Object.assign(standardisation, { x: { mean: [0], std: [1] } }),
      'standardisation.x has 1 values, its spec asks for 3',
    ],
    [
      'names of other evidence',
      (json) => Object.assign(json, { evidenceNames: ['age'] }),
      'evidenceNames holds 1 names',
    ],
    [
      'quantiles of other levels',
      ({ quantiles }) => Object.assign(quantiles, { score: [1] }),
      'quantiles.score holds 1',
    ],
    [
      'an operating point of another name',
      ({ operatingPoints }) => Object.assign((operatingPoints.points as Json).f1 as Json, { name: 'cost' }),
      'operatingPoints.points.f1 is called cost',
    ],
    [
      'half a threshold',
      ({ operatingPoints }) => Object.assign((operatingPoints.points as Json).f1 as Json, { tau: null }),
      'operatingPoints.points.f1 has tau null',
    ],
    [
      'half a calibration',
      ({ operatingPoints }) => Object.assign(operatingPoints, { calibration: { scores: [1], values: [] } }),
      'operatingPoints.calibration has 1 scores and 0 values',
    ],
    ['a best epoch that was not run', (json) => Object.assign(json, { bestEpoch: 9 }), 'bestEpoch is 9 of 2'],
    [
      'inputs that were not trained',
      (json) => Object.assign(json, { trainedInputs: ['hidden'] }),
      'it serves hidden+evidence',
    ],
    [
      'a rotation twice',
      (json) => Object.assign(json, { rotations: [...(json.rotations as Json[]), (json.rotations as Json[])[0]] }),
      'rotation 0/hidden+evidence stands twice',
    ],
  ])('is refused for %s', (_, edit, message) => refused(edit, message))
})
