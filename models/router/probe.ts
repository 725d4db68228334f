/**
 * Probe rows: some validation pairs of the final model with the logits that the trainer computed, kept beside the
 * parameters (probe.safetensors). Whoever runs the router elsewhere can check that it still gives these numbers.
 */
import { existsSync } from 'node:fs'
import { AppError } from '../../src/errors.ts'
import { createRng, deriveSeed } from '../../src/rng.ts'
import { createMatrix, type Matrix } from '../../src/tensor/matrix.ts'
import { readSafetensorsHeader, readTensorF32, writeSafetensors } from '../safetensors.ts'
import { forwardLogit } from './forward.ts'
import { blocksOf } from './parameters.ts'
import { routerInvalid } from './router-invalid.ts'
import { type BlockName, blockSize, type RouterParameters, type RouterSpec } from './spec.ts'
import type { Standardisation } from './standardisation.ts'

export interface ProbeRows {
  /** (P, block size) raw inputs of each block of the spec; q too has a row per pair. */
  readonly inputs: Readonly<Partial<Record<BlockName, Matrix>>>
  /** (P) */
  readonly logits: Float32Array
  /** Rows of the dataset's pair table, in order; null for rows that were made up. */
  readonly pairs: readonly number[] | null
}

export const PROBE_ROWS = 48

export function writeProbe(path: string, spec: RouterSpec, probe: ProbeRows): void {
  const blocks = blocksOf(spec).map((name) => {
    const matrix = blockOf(probe, name)
    return { name, shape: [matrix.rows, matrix.cols], data: matrix.data }
  })
  const logits = { name: 'logits', shape: [probe.logits.length], data: probe.logits }
  writeSafetensors(path, [...blocks, logits], probe.pairs === null ? {} : { pairs: probe.pairs.join(',') })
}

/** @throws router-invalid */
export function readProbe(path: string, spec: RouterSpec): ProbeRows {
  if (!existsSync(path)) throw routerInvalid(path, 'it does not exist')
  try {
    const { tensors, metadata } = readSafetensorsHeader(path)
    const rows = tensors.get('logits')?.shape[0] ?? 0
    const read = (name: string, shape: readonly number[]): Float32Array => {
      const info = tensors.get(name)
      if (info?.dtype !== 'F32' || info.shape.join() !== shape.join())
        throw routerInvalid(path, `tensor ${name} is ${info?.dtype} [${info?.shape}], F32 [${shape}] is needed`)
      return readTensorF32(path, info)
    }
    if (rows < 1) throw routerInvalid(path, 'it holds no rows')
    const inputs = blocksOf(spec).map((name): [BlockName, Matrix] => {
      const cols = blockSize(spec, name)
      return [name, { data: read(name, [rows, cols]), rows, cols }]
    })
    const pairs = metadata.pairs?.split(',').map(Number) ?? null
    if (pairs !== null && (pairs.length !== rows || pairs.some((pair) => !Number.isSafeInteger(pair) || pair < 0)))
      throw routerInvalid(path, `its metadata do not name ${rows} pairs`)
    return { inputs: Object.fromEntries(inputs), logits: read('logits', [rows]), pairs }
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code.startsWith('safetensors-'))
      throw routerInvalid(path, thrown.message, thrown)
    throw thrown
  }
}

/**
 * Rows for an artefact that has none (schema version 1): inputs drawn around the training means, and the float64 forward
 * pass in the place of the trainer. They compare implementations with each other, not with training.
 */
export function makeProbe(router: {
  readonly spec: RouterSpec
  readonly parameters: RouterParameters
  readonly standardisation: Standardisation
}): ProbeRows {
  const { spec, parameters, standardisation } = router
  const rng = createRng(deriveSeed(1, 'probe'))
  const inputs = Object.fromEntries(
    blocksOf(spec).map((name) => {
      const matrix = createMatrix(PROBE_ROWS, blockSize(spec, name))
      const { mean, std } = standardisation[name] ?? { mean: [], std: [] }
      matrix.data.forEach((_, i) => {
        matrix.data[i] = (mean[i % matrix.cols] ?? 0) + (std[i % matrix.cols] ?? 1) * rng.nextNormal()
      })
      return [name, matrix]
    }),
  )
  const probe: ProbeRows = { inputs, logits: new Float32Array(PROBE_ROWS), pairs: null }
  return { ...probe, logits: probe.logits.map((_, row) => forwardLogit(spec, parameters, probeRow(spec, probe, row))) }
}

/** One row: a vector of each block. */
export function probeRow(
  spec: RouterSpec,
  probe: ProbeRows,
  row: number,
): Readonly<Partial<Record<BlockName, Float32Array>>> {
  return Object.fromEntries(
    blocksOf(spec).map((name) => {
      const { data, cols } = blockOf(probe, name)
      return [name, data.subarray(row * cols, (row + 1) * cols)]
    }),
  )
}

function blockOf(probe: ProbeRows, name: BlockName): Matrix {
  const matrix = probe.inputs[name]
  if (matrix === undefined) throw new AppError('invariant', `probe rows hold block ${name}`)
  return matrix
}
