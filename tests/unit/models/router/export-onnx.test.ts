import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromBinary } from '@bufbuild/protobuf'
import { fc, test } from '@fast-check/vitest'
import { ModelProtoSchema } from 'onnx-buf'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RouterArtefact, readRouter } from '../../../../models/router/artefact.ts'
import { PROBE_FILE } from '../../../../models/router/artefact-files.ts'
import { ceilFloat32, exportOnnx } from '../../../../models/router/export-onnx.ts'
import { forwardLogit } from '../../../../models/router/forward.ts'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import { blocksOf } from '../../../../models/router/parameters.ts'
import { probeRow, readProbe } from '../../../../models/router/probe.ts'
import { INPUT_KINDS, type InputKind } from '../../../../models/router/spec.ts'
import { decide } from '../../../../src/router/decide.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { trainRouter } from '../../../../training/train.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, hiddenSize: 4, minLength: 6, maxLength: 7 })
let folder: string
const routers = new Map<InputKind, RouterArtefact>()
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keepready-export-'))
  for (const inputs of INPUT_KINDS) {
    const out = join(folder, inputs)
    const overrides = { width: inputs === 'evidence' ? 0 : 4, epochs: 2 }
    await trainRouter({ dataset, out, inputs, overrides, runJobs: runInline, node: 'test', source: 'test' })
    routers.set(inputs, readRouter(out))
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const routerOf = (inputs: InputKind): RouterArtefact => {
  const router = routers.get(inputs)
  if (router === undefined) throw new Error(`no router of ${inputs}`)
  return router
}
const probeOf = (router: RouterArtefact) => readProbe(join(router.directory, PROBE_FILE), router.spec)

/** An f1 point that half of the probe rows reach. */
function withMedianThreshold(router: RouterArtefact): RouterArtefact {
  const sorted = [...probeOf(router).logits].sort((a, b) => a - b)
  const tauLogit = sorted[sorted.length >> 1] ?? 0
  const { operatingPoints } = router.manifest
  const f1 = { ...operatingPoints.points.f1, tauLogit }
  const points = { ...operatingPoints.points, f1 }
  return { ...router, manifest: { ...router.manifest, operatingPoints: { ...operatingPoints, points } } }
}

/** The float32 below a number other than 0. */
function floatBefore(value: number): number {
  const bits = new DataView(new ArrayBuffer(4))
  bits.setFloat32(0, value)
  bits.setInt32(0, bits.getInt32(0) + (value > 0 ? -1 : 1))
  return bits.getFloat32(0)
}

function metadataOf(path: string): ReadonlyMap<string, string> {
  const { metadataProps } = fromBinary(ModelProtoSchema, readFileSync(path))
  return new Map(metadataProps.map(({ key = '', value = '' }) => [key, value]))
}

describe('exportOnnx', () => {
  it.each(INPUT_KINDS)("writes a file whose logits, p and decisions are the router's (%s)", async (inputs) => {
    const router = withMedianThreshold(routerOf(inputs))
    const out = join(folder, `${inputs}.onnx`)
    const exported = await exportOnnx({ router, out, operatingPoint: 'f1' })
    expect(exported.sizeBytes).toBe(readFileSync(out).length)
    expect(Object.keys(exported.inputs)).toEqual(blocksOf(router.spec))
    const session = await InferenceSession.create(out)
    const probe = probeOf(router)
    const feeds = Object.entries(probe.inputs).map(([name, { data, rows, cols }]) => [
      name,
      new Tensor('float32', data, [rows, cols]),
    ])
    const { logit, p, ready } = await session.run(Object.fromEntries(feeds) as Record<string, Tensor>)
    expect(logit?.dims).toEqual([probe.logits.length])
    const f1 = router.manifest.operatingPoints.points.f1
    expect(new Set(ready?.data as Uint8Array)).toEqual(new Set([0, 1]))
    probe.logits.forEach((expected, row) => {
      expect(Math.abs((logit?.data[row] as number) - expected)).toBeLessThan(1e-5)
      const own = decide(logit?.data[row] as number, f1)
      expect(Math.abs((p?.data[row] as number) - own.p)).toBeLessThan(1e-6)
      expect(ready?.data[row] === 1).toBe(own.ready)
    })
    await session.release()
  })

  it('takes one q for all rows of a checkpoint', async () => {
    const router = routerOf('hidden')
    const out = join(folder, 'one-q.onnx')
    await exportOnnx({ router, out })
    const session = await InferenceSession.create(out)
    const probe = probeOf(router)
    const { h, m, q } = probe.inputs
    const tensor = (data: Float32Array): Tensor => new Tensor('float32', data, [data.length / 4, 4])
    const first = q?.data.subarray(0, 4) ?? new Float32Array(0)
    const { logit } = await session.run({
      h: tensor(h?.data ?? first),
      m: tensor(m?.data ?? first),
      q: tensor(first),
    })
    probe.logits.forEach((_, row) => {
      const inputs = { ...probeRow(router.spec, probe, row), q: first }
      const expected = forwardLogit(router.spec, router.parameters, inputs)
      expect(Math.abs((logit?.data[row] as number) - expected)).toBeLessThan(1e-5)
    })
    await session.release()
  })

  it('says in its metadata what it is, and never READY where there is no threshold', async () => {
    const router = routerOf('hidden+evidence')
    const out = join(folder, 'metadata.onnx')
    await exportOnnx({ router, out, operatingPoint: 'precision' })
    const metadata = metadataOf(out)
    const { manifest } = router
    expect(metadata.get('keepready.inputs')).toBe('hidden+evidence')
    expect(metadata.get('keepready.representation_id')).toBe(manifest.representationId)
    expect(metadata.get('keepready.parameters_sha256')).toBe(manifest.parametersSha256)
    expect(JSON.parse(metadata.get('keepready.evidence_names') ?? '')).toEqual(manifest.evidenceNames)
    expect(JSON.parse(metadata.get('keepready.representation') ?? '')).toEqual(manifest.representation)
    expect(metadata.get('keepready.operating_point')).toBe('precision')
    expect(manifest.operatingPoints.points.precision.tau).toBeNull()
    expect(metadata.get('keepready.tau')).toBe('null')
    const session = await InferenceSession.create(out)
    const feeds = Object.entries(probeOf(router).inputs).map(([name, { data, rows, cols }]) => [
      name,
      new Tensor('float32', data, [rows, cols]),
    ])
    const { ready } = await session.run(Object.fromEntries(feeds) as Record<string, Tensor>)
    expect(new Set(ready?.data as Uint8Array)).toEqual(new Set([0]))
    await session.release()
  })

  it('writes nothing when onnxruntime gives other logits than the probe rows', async () => {
    const router = routerOf('hidden')
    const out = join(folder, 'wrong.onnx')
    const wrong = { ...router, parameters: initialiseRouter(router.spec, 99) }
    await expect(exportOnnx({ router: wrong, out })).rejects.toMatchObject({
      code: 'tensor-mismatch',
      message: expect.stringContaining('nothing was written'),
    })
    expect(existsSync(out)).toBe(false)
  })

  it('names a file that cannot be written and leaves nothing behind', async () => {
    const out = join(folder, 'hidden')
    await expect(exportOnnx({ router: routerOf('hidden'), out })).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('--onnx'),
    })
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})

describe('ceilFloat32', () => {
  test.prop([
    fc.oneof(fc.double({ noNaN: true, min: -1e30, max: 1e30 }), fc.float({ noNaN: true, noDefaultInfinity: true })),
  ])('is the least float32 that is not below', (value) => {
    const above = ceilFloat32(value)
    expect(Math.fround(above)).toBe(above)
    expect(above).toBeGreaterThanOrEqual(value)
    if (above !== 0) expect(floatBefore(above)).toBeLessThan(value)
  })
  it('keeps infinity and steps over zero', () => {
    expect(ceilFloat32(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY)
    expect(ceilFloat32(0)).toBe(0)
    expect(ceilFloat32(1e-50)).toBe(2 ** -149)
    expect(ceilFloat32(-1e-50)).toBe(-0)
  })
})
