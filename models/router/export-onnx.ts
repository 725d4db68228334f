/**
 * A router as one ONNX inference file, for runtimes that are not this project: weights as initializers, what router.json
 * says as metadata_props. Written from the safetensors, and kept only if onnxruntime gives the logits of the probe rows.
 * This project never reads such a file. Inputs and outputs: docs/router-artefact.md.
 */
import { renameSync, rmSync } from 'node:fs'
import { AppError, invariant } from '../../src/errors.ts'
import { decide } from '../../src/router/decide.ts'
import type { OperatingPoint, OperatingPointName } from '../../src/router/operating-points.ts'
import type { Matrix } from '../../src/tensor/matrix.ts'
import { createOnnxGraph } from '../onnx/onnx-graph.ts'
import { noRoomFor } from '../safetensors.ts'
import type { RouterArtefact } from './artefact.ts'
import type { RouterManifest } from './manifest.ts'
import { blocksOf } from './parameters.ts'
import { largestDifference } from './recompute-probe.ts'
import { addHead, addParameters } from './router-head.ts'
import { openRouterSession } from './router-session.ts'
import { blockSize } from './spec.ts'
import { writeSynced } from './synced-file.ts'
import { PARITY_TOLERANCE, probeOf } from './verify-router.ts'

export interface ExportedRouter {
  readonly path: string
  readonly sizeBytes: number
  /** Name -> shape; N rows, Q is 1 or N. */
  readonly inputs: Readonly<Record<string, readonly (string | number)[]>>
  readonly outputs: Readonly<Record<string, readonly (string | number)[]>>
  readonly metadata: Readonly<Record<string, string>>
  readonly probe: { readonly rows: number; readonly relative: number; readonly tolerance: number }
}

const OUTPUTS = { logit: ['N'], p: ['N'], ready: ['N'] } as const

/**
 * @param operatingPoint whose threshold `ready` uses; left out: the default one of the artefact
 * @throws router-invalid (probe rows), output-not-finite and session-failed (onnxruntime), tensor-mismatch (it gives other
 *   logits: nothing is written), disk-full, option-invalid (cannot be written)
 */
export async function exportOnnx(options: {
  readonly router: RouterArtefact
  readonly out: string
  readonly operatingPoint?: OperatingPointName | undefined
}): Promise<ExportedRouter> {
  const { router, out } = options
  const { manifest } = router
  const point = manifest.operatingPoints.points[options.operatingPoint ?? manifest.defaultOperatingPoint]
  const metadata = metadataOf(manifest, point)
  const bytes = inferenceGraph(router, point, metadata)
  const probe = await checkOnProbe(router, bytes, point)
  writeWhole(out, bytes)
  return { path: out, sizeBytes: bytes.length, inputs: inputShapes(router), outputs: OUTPUTS, metadata, probe }
}

function inputShapes({ spec }: RouterArtefact): ExportedRouter['inputs'] {
  return Object.fromEntries(blocksOf(spec).map((block) => [block, [block === 'q' ? 'Q' : 'N', blockSize(spec, block)]]))
}

function inferenceGraph(
  router: RouterArtefact,
  point: OperatingPoint,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const { spec } = router
  const graph = createOnnxGraph('keepready-router')
  addParameters(graph, router)
  const shapes = inputShapes(router)
  const terms = blocksOf(spec).map((block) => {
    graph.input(block, 'f32', shapes[block] ?? [])
    return graph.op('MatMul', [block, `weights.${block}`])
  })
  addHead(graph, spec, terms, 'logits')
  graph.op('Reshape', ['logits', graph.ints([-1])], { outputs: ['logit'] })
  graph.op('Sigmoid', ['logit'], { outputs: ['p'] })
  // No float32 logit reaches infinity: without a threshold READY is never predicted.
  const tau = graph.constant('tau', 'f32', [], Float32Array.of(ceilFloat32(point.tauLogit ?? Number.POSITIVE_INFINITY)))
  graph.op('GreaterOrEqual', ['logit', tau], { outputs: ['ready'] })
  graph.output('logit', 'f32', OUTPUTS.logit)
  graph.output('p', 'f32', OUTPUTS.p)
  graph.output('ready', 'bool', OUTPUTS.ready)
  return graph.encode(metadata)
}

/** The smallest float32 that is not below `value`: float32 logits then fall on the same side of both. */
export function ceilFloat32(value: number): number {
  const nearest = Math.fround(value)
  if (!(nearest < value)) return nearest
  const bits = new DataView(new ArrayBuffer(4))
  bits.setFloat32(0, nearest)
  // Towards zero for a negative number, away from it for a positive one; from 0 (either sign) to the least positive one.
  const next = nearest === 0 ? 1 : bits.getInt32(0) + (nearest > 0 ? 1 : -1)
  bits.setInt32(0, next)
  return bits.getFloat32(0)
}

/** What a reader needs to feed the file rightly and to know where it is from; values that are no text are JSON. */
function metadataOf(manifest: RouterManifest, point: OperatingPoint): Record<string, string> {
  const { spec, representation } = manifest
  const entries: Readonly<Record<string, unknown>> = {
    schema_version: manifest.schemaVersion,
    inputs: spec.inputs,
    spec,
    representation_id: manifest.representationId,
    representation,
    top_k: manifest.topK,
    evidence_names: manifest.evidenceNames,
    operating_point: point.name,
    tau: point.tau,
    tau_logit: point.tauLogit,
    operating_points: Object.fromEntries(
      Object.entries(manifest.operatingPoints.points).map(([name, { tau, tauLogit }]) => [name, { tau, tauLogit }]),
    ),
    prevalence: manifest.prevalence,
    parameters_sha256: manifest.parametersSha256,
    data: { runsSha256: manifest.data.runsSha256, labelsSha256: manifest.data.labelsSha256 },
    engine: manifest.engine,
    source: manifest.source,
  }
  return Object.fromEntries(
    Object.entries(entries).map(([key, value]) => [
      `keepready.${key}`,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

async function checkOnProbe(
  router: RouterArtefact,
  bytes: Uint8Array,
  point: OperatingPoint,
): Promise<ExportedRouter['probe']> {
  const probe = probeOf(router)
  const session = await openRouterSession(bytes)
  try {
    const outputs = await session.run(probe.inputs as Readonly<Record<string, Matrix>>)
    const valuesOf = (name: keyof typeof OUTPUTS) => invariant(outputs[name], `the graph gives ${name}`).data
    const [logit, p, ready] = [
      valuesOf('logit') as Float32Array,
      valuesOf('p') as Float32Array,
      valuesOf('ready') as Uint8Array,
    ]
    const difference = largestDifference(logit, probe.logits)
    if (!(difference.relative <= PARITY_TOLERANCE))
      throw new AppError(
        'tensor-mismatch',
        `the ONNX graph of ${router.directory} gives logits that differ by ${difference.relative.toExponential(1)} ` +
          `(relative) at probe row ${difference.row}, the limit is ${PARITY_TOLERANCE}: nothing was written. ` +
          'Run keepready router verify to see whether the artefact is sound',
      )
    probe.logits.forEach((_, row) => {
      const own = decide(logit[row] as number, point)
      const isReady = ready[row] === 1
      if (!(Math.abs((p[row] as number) - own.p) <= PARITY_TOLERANCE) || isReady !== own.ready)
        throw new AppError(
          'tensor-mismatch',
          `the ONNX graph of ${router.directory} gives p ${p[row]} and ready ${isReady} at probe row ${row}, ` +
            `${own.p} and ${own.ready} are right at operating point ${point.name}: nothing was written`,
        )
    })
    return { rows: probe.logits.length, relative: difference.relative, tolerance: PARITY_TOLERANCE }
  } finally {
    await session.close()
  }
}

function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.part`
  try {
    writeSynced(temporary, bytes)
    renameSync(temporary, path)
  } catch (thrown) {
    rmSync(temporary, { force: true })
    const cause = noRoomFor(path, thrown)
    if (cause instanceof AppError) throw cause
    throw new AppError('option-invalid', `cannot write ${path} (${String(thrown)}): choose another --onnx`, { cause })
  }
}
