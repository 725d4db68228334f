/**
 * Where things lie in a router artefact, and the JSON text of its records: shared by reader and writer.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tensorOf, tensorsOf } from './parameters.ts'
import type { InputKind, RouterParameters, RouterSpec } from './spec.ts'

export const MANIFEST_FILE = 'router.json'
export const PARAMETERS_FILE = 'router.safetensors'
export const PROBE_FILE = 'probe.safetensors'
export const ROTATIONS_DIRECTORY = 'rotations'
export const ROTATION_FILE = 'rotation.json'

/** rotations/<r>/<inputs>, relative to the artefact. */
export function rotationPath(rotation: number, inputs: InputKind): string {
  return join(ROTATIONS_DIRECTORY, String(rotation), inputs)
}

export function hashFileSync(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Parameters as safetensors entries, in the spec's order. */
export function parameterTensors(spec: RouterSpec, parameters: RouterParameters) {
  return tensorsOf(spec).map(({ name, shape }) => ({ name, shape, data: tensorOf(parameters, name) }))
}

/** Typed arrays as plain number lists, the rest as it is. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, (_, item: unknown) => (ArrayBuffer.isView(item) ? Array.from(item as Float64Array) : item), 1)}\n`
}
