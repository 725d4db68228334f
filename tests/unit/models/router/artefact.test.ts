import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRepresentation, representationId } from '../../../../models/frozen-lm/representation.ts'
import {
  readRotation,
  readRotationParameters,
  readRouter,
  requireRepresentation,
} from '../../../../models/router/artefact.ts'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import { ROUTER_SCHEMA_VERSION, type RouterManifest } from '../../../../models/router/manifest.ts'
import { makeProbe } from '../../../../models/router/probe.ts'
import type { RouterSpec } from '../../../../models/router/spec.ts'
import {
  openRouterWriter,
  type WritableManifest,
  type WritableRotation,
} from '../../../../models/router/write-artefact.ts'
import { chooseOperatingPoints } from '../../../../src/router/operating-points.ts'
import { DEFAULT_RECIPE } from '../../../../src/view/recipe.ts'
import { DEFAULT_TRAIN_CONFIG } from '../../../../training/train-config.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keepready-router-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

const spec: RouterSpec = { inputs: 'hidden', hiddenSize: 4, evidenceSize: 0, width: 3, dropout: 0.3 }
const representation = createRepresentation({
  model: { name: 'fake', architecture: 'LlamaForCausalLM', hiddenSize: 4, filesSha256: 'a'.repeat(64) },
  layer: 3,
  storageDtype: 'f16',
  recipe: DEFAULT_RECIPE,
})
const operatingPoints = chooseOperatingPoints({
  logits: Array.from({ length: 60 }, (_, i) => i / 10 - 3),
  labels: Array.from({ length: 60 }, (_, i) => (i > 30 ? 1 : 0)),
  groups: Array.from({ length: 60 }, (_, i) => `group-${i % 12}`),
})
const metrics = { trajectories: 2, pairs: 9, positives: 3, withinAuroc: 0.75, prAuc: null, lossNats: 0.5 }
const epochs = [{ epoch: 1, trainLossNats: 0.7, validationLossNats: 0.6, validationPrAuc: 0.3 }]
const block = { mean: Float64Array.of(0.1, -1e-30, 3, 4), std: Float64Array.of(1, 2, 3, 1 / 3) }
const manifest: WritableManifest = {
  spec,
  trainedInputs: ['hidden'],
  servedBecause: 'only hidden was trained',
  topK: 4,
  evidenceNames: [],
  representationId: representationId(representation),
  representation,
  standardisation: { h: block, q: block, m: block },
  operatingPoints,
  defaultOperatingPoint: 'precision',
  config: DEFAULT_TRAIN_CONFIG,
  bestEpoch: 1,
  epochs,
  validation: metrics,
  rotations: [{ inputs: 'hidden', rotation: 0, bestEpoch: 1, validation: metrics, test: metrics, start: null }],
  prevalence: { training: 0.2, validation: 0.1, byDomain: { 'tau-bench': 0.1 } },
  quantiles: { levels: [0, 1], score: [0.1, 0.9], interactions: [3, 40], sourceTokens: [10, 900] },
  groups: { training: ['0011223344556677'], validation: [] },
  parent: null,
  data: { runsSha256: 'b'.repeat(64), labelsSha256: 'c'.repeat(64), files: { 'pairs.arrow': 'd'.repeat(64) } },
  engine: { backend: 'ort-cpu', version: '1.0.0', node: '20.0.0' },
  source: 'test',
}
const rotation: WritableRotation = {
  spec,
  rotation: 0,
  bestEpoch: 1,
  epochs,
  operatingPoints,
  validation: metrics,
  test: metrics,
  validationPredictions: { pairs: [0, 1], logits: [Math.fround(0.1), -2] },
  testPredictions: { pairs: [7], logits: [Math.fround(1 / 3)] },
  startPredictions: null,
  groups: { training: ['0011223344556677'], validation: [], test: ['8899aabbccddeeff'] },
}
const served = initialiseRouter(spec, 1)
const held = initialiseRouter(spec, 2)
const probe = makeProbe({ spec, parameters: served, standardisation: manifest.standardisation })

function write(): string {
  const out = join(directory, 'router')
  const writer = openRouterWriter(out)
  writer.writeRotation(rotation, held)
  writer.commit(manifest, { parameters: served, probe })
  return out
}

const expectInvalid = (read: () => unknown, text: string): void =>
  expect(read).toThrowError(expect.objectContaining({ code: 'router-invalid', message: expect.stringContaining(text) }))

function editManifest(out: string, edit: (json: Record<string, unknown>) => void): void {
  const path = join(out, 'router.json')
  const json = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  edit(json)
  writeFileSync(path, JSON.stringify(json))
}

describe('a router artefact', () => {
  it('comes back as it was written, to the last bit', () => {
    const out = write()
    const router = readRouter(out)
    const hash = (...path: readonly string[]): string =>
      createHash('sha256')
        .update(readFileSync(join(out, ...path)))
        .digest('hex')
    const mean = (value: number) => ({ mean: value, standardDeviation: null, rotations: 1 })
    expect(router.manifest).toEqual({
      ...manifest,
      schemaVersion: ROUTER_SCHEMA_VERSION,
      rotations: [{ ...manifest.rotations[0], recordSha256: hash('rotations', '0', 'hidden', 'rotation.json') }],
      means: ['validation', 'test'].map((split) => ({ inputs: 'hidden', split, withinAuroc: mean(0.75), prAuc: null })),
      parametersSha256: hash('router.safetensors'),
      probeSha256: hash('probe.safetensors'),
    })
    expect(router.parameters).toEqual(served)
    const record = readRotation(out, { rotation: 0, inputs: 'hidden' })
    expect(record).toEqual({
      ...rotation,
      schemaVersion: ROUTER_SCHEMA_VERSION,
      parametersSha256: hash('rotations', '0', 'hidden', 'router.safetensors'),
    })
    expect(readRotationParameters(out, record)).toEqual(held)
  })

  it('is replaced as a whole: rotations of the old one are gone', () => {
    write()
    const writer = openRouterWriter(join(directory, 'router'))
    writer.writeRotation({ ...rotation, rotation: 1 }, held)
    const rotations = manifest.rotations.map((one) => ({ ...one, rotation: 1 }))
    writer.commit({ ...manifest, rotations }, { parameters: held, probe })
    expect(readRouter(join(directory, 'router')).parameters).toEqual(held)
    expectInvalid(() => readRotation(join(directory, 'router'), { rotation: 0, inputs: 'hidden' }), 'does not exist')
  })

  it('is not there until it is committed', () => {
    const out = join(directory, 'router')
    openRouterWriter(out).writeRotation(rotation, held)
    expectInvalid(() => readRouter(out), 'training has not finished')
    expect(() => readRouter(join(directory, 'nowhere'))).toThrowError(
      expect.objectContaining({ code: 'file-not-found' }),
    )
  })

  it('is refused when its parameters are cut, changed, of another shape or missing', () => {
    const parameters = join(write(), 'router.safetensors')
    const bytes = readFileSync(parameters)
    truncateSync(parameters, bytes.length - 4)
    expectInvalid(() => readRouter(join(directory, 'router')), 'router.safetensors')
    const flipped = Buffer.from(bytes)
    flipped.writeUInt8(flipped.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
    writeFileSync(parameters, flipped)
    expectInvalid(() => readRouter(join(directory, 'router')), 'SHA-256')
    writeFileSync(parameters, bytes)
    editManifest(join(directory, 'router'), (json) => {
      json.spec = { ...spec, width: 5 }
    })
    expectInvalid(() => readRouter(join(directory, 'router')), 'asks for F32 [4,5]')
    rmSync(parameters)
    expectInvalid(() => readRouter(join(directory, 'router')), 'router.safetensors')
  })

  it('is refused when its manifest is no JSON, lacks a field, or contradicts itself', () => {
    const out = write()
    const text = readFileSync(join(out, 'router.json'), 'utf8')
    writeFileSync(join(out, 'router.json'), text.slice(0, 200))
    expectInvalid(() => readRouter(out), 'no JSON')
    writeFileSync(join(out, 'router.json'), text)
    editManifest(out, (json) => {
      json.operatingPoints = undefined
    })
    expectInvalid(() => readRouter(out), 'operatingPoints')
    writeFileSync(join(out, 'router.json'), text)
    editManifest(out, (json) => {
      json.representationId = '0123456789abcdef'
    })
    expectInvalid(() => readRouter(out), 'representationId')
  })

  it('of another schema version is refused by that name', () => {
    const out = write()
    editManifest(out, (json) => {
      json.schemaVersion = 99
    })
    expect(() => readRouter(out)).toThrowError(
      expect.objectContaining({ code: 'router-version-unsupported', message: expect.stringContaining('99') }),
    )
  })

  it('names a directory that cannot be written', () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    expect(() => openRouterWriter(join(file, 'router'))).toThrowError(
      expect.objectContaining({ code: 'option-invalid', message: expect.stringContaining('--out') }),
    )
  })

  it('says that the disk is full and keeps the artefact that was there', () => {
    const out = write()
    const writer = openRouterWriter(out)
    const path = join(out, '.staging', 'rotations', '0', 'hidden')
    mkdirSync(path, { recursive: true })
    symlinkSync('/dev/full', join(path, 'rotation.json'))
    expect(() => writer.writeRotation(rotation, held)).toThrowError(expect.objectContaining({ code: 'disk-full' }))
    writer.discard()
    expect(readRouter(out).parameters).toEqual(served)
  })

  it('clears what a killed run staged', () => {
    const out = join(directory, 'router')
    mkdirSync(join(out, '.staging', 'rotations', '4', 'hidden'), { recursive: true })
    write()
    expectInvalid(() => readRotation(out, { rotation: 4, inputs: 'hidden' }), 'does not exist')
  })
})

describe('requireRepresentation', () => {
  const full: RouterManifest = {
    ...manifest,
    schemaVersion: ROUTER_SCHEMA_VERSION,
    rotations: [],
    means: [],
    parametersSha256: 'e'.repeat(64),
    probeSha256: null,
  }

  it('accepts the same representation whatever the directory is called', () => {
    const renamed = { ...representation, model: { ...representation.model, name: 'copy' } }
    expect(() => requireRepresentation(full, renamed)).not.toThrow()
  })

  it('names what differs', () => {
    const other = { ...representation, layer: 4, storageDtype: 'f32' as const }
    expect(() => requireRepresentation(full, other)).toThrowError(
      expect.objectContaining({
        code: 'representation-mismatch',
        message: expect.stringContaining('layer: router 3, here 4; storage dtype: router f16, here f32'),
      }),
    )
  })

  it('does not ask a router that reads no vectors', () => {
    const evidence: RouterManifest = { ...full, spec: { ...spec, inputs: 'evidence', hiddenSize: 0, evidenceSize: 3 } }
    expect(() => requireRepresentation(evidence, { ...representation, layer: 9 })).not.toThrow()
  })
})
