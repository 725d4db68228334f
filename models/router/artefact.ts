/**
 * Reads a router artefact: the only thing that training and serving share (DESIGN section 11).
 * The manifest is written last, so a directory without one is unfinished; parameters are checked against its hash.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { type Representation, representationId } from '../frozen-lm/representation.ts'
import { readSafetensorsHeader, readTensorF32 } from '../safetensors.ts'
import { hashFileSync, MANIFEST_FILE, PARAMETERS_FILE, ROTATION_FILE, rotationPath } from './artefact-files.ts'
import type { RotationRecord, RouterManifest } from './manifest.ts'
import { buildParameters } from './parameters.ts'
import { parseRotationRecord, parseRouterManifest } from './router.schema.ts'
import { routerInvalid } from './router-invalid.ts'
import type { InputKind, RouterParameters, RouterSpec } from './spec.ts'

/** A rotation of a million held-out pairs has about 50 MB. */
const MAX_JSON_BYTES = 256e6

export interface RouterArtefact {
  readonly directory: string
  readonly manifest: RouterManifest
  readonly spec: RouterSpec
  /** Standardisation is folded in: they take raw inputs. */
  readonly parameters: RouterParameters
}

/** @throws file-not-found, router-invalid, router-version-unsupported */
export function readRouter(directory: string): RouterArtefact {
  const manifest = readRouterManifest(directory)
  const path = join(directory, PARAMETERS_FILE)
  const parameters = readParameters(path, manifest.spec)
  if (hashFileSync(path) !== manifest.parametersSha256)
    throw routerInvalid(path, `its SHA-256 is not the one in ${MANIFEST_FILE}`)
  return { directory, manifest, spec: manifest.spec, parameters }
}

/** router.json alone. @throws file-not-found, router-invalid, router-version-unsupported */
export function readRouterManifest(directory: string): RouterManifest {
  if (!existsSync(directory))
    throw new AppError(
      'file-not-found',
      `${directory} does not exist: give the directory that \`keepready train\` wrote`,
    )
  const path = join(directory, MANIFEST_FILE)
  if (!existsSync(path))
    throw routerInvalid(
      directory,
      `it holds no ${MANIFEST_FILE}; training has not finished there, or it is something else`,
    )
  return parseRouterManifest(path, readText(path))
}

/**
 * One rotation model's record with its held-out predictions.
 * @throws router-invalid (also for a record of another rotation: its folder was moved), router-version-unsupported
 */
export function readRotation(
  directory: string,
  which: { readonly rotation: number; readonly inputs: InputKind },
): RotationRecord {
  const path = join(directory, rotationPath(which.rotation, which.inputs), ROTATION_FILE)
  if (!existsSync(path)) throw routerInvalid(path, 'it does not exist')
  const record = parseRotationRecord(path, readText(path))
  if (record.rotation !== which.rotation || record.spec.inputs !== which.inputs)
    throw routerInvalid(
      path,
      `it is the record of rotation ${record.rotation}, inputs ${record.spec.inputs}: folders were moved or swapped`,
    )
  return record
}

/** @throws router-invalid */
export function readRotationParameters(directory: string, record: RotationRecord): RouterParameters {
  const path = join(directory, rotationPath(record.rotation, record.spec.inputs), PARAMETERS_FILE)
  const parameters = readParameters(path, record.spec)
  if (record.parametersSha256 !== null && hashFileSync(path) !== record.parametersSha256)
    throw routerInvalid(path, `its SHA-256 is not the one in ${ROTATION_FILE}`)
  return parameters
}

/**
 * Refuses vectors of another representation. A router of inputs = evidence reads none and fits any.
 * @throws representation-mismatch naming what differs
 */
export function requireRepresentation(manifest: RouterManifest, actual: Representation): void {
  if (manifest.spec.inputs === 'evidence' || representationId(actual) === manifest.representationId) return
  const expected = manifest.representation
  const differences = [
    describe('model files', expected.model.filesSha256.slice(0, 12), actual.model.filesSha256.slice(0, 12)),
    describe('layer', expected.layer, actual.layer),
    describe('storage dtype', expected.storageDtype, actual.storageDtype),
    describe('recipe', JSON.stringify(expected.recipe), JSON.stringify(actual.recipe)),
    describe('graph version', expected.graphVersion, actual.graphVersion),
    describe('recipe version', expected.recipeVersion, actual.recipeVersion),
  ].filter((text) => text !== null)
  throw new AppError(
    'representation-mismatch',
    `the router was trained on representation ${manifest.representationId} (model ${expected.model.name}, layer ${expected.layer}), this one is ${representationId(actual)}: ${differences.join('; ')}. Use the same model and options, or extract and train again`,
    { details: { expected: manifest.representationId, actual: representationId(actual) } },
  )
}

/** @throws router-invalid */
function readText(path: string): string {
  const stat = statSync(path)
  if (!stat.isFile()) throw routerInvalid(path, 'it is no file')
  if (stat.size > MAX_JSON_BYTES) throw routerInvalid(path, `it has ${stat.size} bytes, the limit is ${MAX_JSON_BYTES}`)
  return readFileSync(path, 'utf8')
}

function describe(what: string, expected: string | number, actual: string | number): string | null {
  return expected === actual ? null : `${what}: router ${expected}, here ${actual}`
}

function readParameters(path: string, spec: RouterSpec): RouterParameters {
  try {
    const { tensors } = readSafetensorsHeader(path)
    return buildParameters(spec, ({ name, shape }) => {
      const info = tensors.get(name)
      if (info === undefined) throw routerInvalid(path, `tensor ${name} is missing`)
      if (info.dtype !== 'F32' || info.shape.join() !== shape.join())
        throw routerInvalid(path, `tensor ${name} is ${info.dtype} [${info.shape}], its spec asks for F32 [${shape}]`)
      return readTensorF32(path, info)
    })
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code.startsWith('safetensors-'))
      throw routerInvalid(path, thrown.message, thrown)
    throw thrown
  }
}
