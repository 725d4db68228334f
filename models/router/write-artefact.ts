/**
 * Writes a router artefact. Everything is staged in a hidden directory inside it while training runs; at the end the
 * old manifest goes, files move into place, and the new manifest is renamed into place last. So a reader finds the old
 * artefact, the new one, or none (router-invalid); never a mixture.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { writeSafetensors } from '../safetensors.ts'
import {
  hashFileSync,
  MANIFEST_FILE,
  PARAMETERS_FILE,
  PROBE_FILE,
  parameterTensors,
  ROTATION_FILE,
  ROTATIONS_DIRECTORY,
  rotationPath,
  toJson,
} from './artefact-files.ts'
import { ROUTER_SCHEMA_VERSION, type RotationRecord, type RotationSummary, type RouterManifest } from './manifest.ts'
import { type ProbeRows, writeProbe } from './probe.ts'
import { rotationMeans } from './rotation-means.ts'
import type { RouterParameters } from './spec.ts'
import { syncDirectory, writeSynced } from './synced-file.ts'

const STAGING = '.staging'

/** Without what the writer adds: versions, hashes and means. */
export type WritableRotation = Omit<RotationRecord, 'schemaVersion' | 'parametersSha256'>
export type WritableManifest = Omit<
  RouterManifest,
  'schemaVersion' | 'parametersSha256' | 'probeSha256' | 'means' | 'rotations'
> & { readonly rotations: readonly (RotationSummary & Pick<RouterManifest['rotations'][number], 'start'>)[] }

export interface RouterWriter {
  writeRotation(record: WritableRotation, parameters: RouterParameters): void
  /**
   * Publishes everything staged; each rotation of the manifest has been written before.
   * @param served parameters of the served router, standardisation folded in, and rows to check it with
   * @returns the manifest as written
   */
  commit(
    manifest: WritableManifest,
    served: { readonly parameters: RouterParameters; readonly probe: ProbeRows },
  ): RouterManifest
  /** Removes what is staged; the artefact that was there before stays. */
  discard(): void
}

/** What an earlier run staged and did not publish is removed. @throws disk-full, option-invalid (not writable) */
export function openRouterWriter(directory: string): RouterWriter {
  const staging = join(directory, STAGING)
  guarded(staging, () => {
    rmSync(staging, { recursive: true, force: true })
    mkdirSync(join(staging, ROTATIONS_DIRECTORY), { recursive: true })
  })
  return {
    writeRotation(record, parameters) {
      const path = join(staging, rotationPath(record.rotation, record.spec.inputs))
      guarded(path, () => {
        mkdirSync(path, { recursive: true })
        const tensors = join(path, PARAMETERS_FILE)
        writeSafetensors(tensors, parameterTensors(record.spec, parameters), {})
        const full: RotationRecord = {
          ...record,
          schemaVersion: ROUTER_SCHEMA_VERSION,
          parametersSha256: hashFileSync(tensors),
        }
        writeSynced(join(path, ROTATION_FILE), toJson(full))
      })
    },
    commit(manifest, { parameters, probe }) {
      return guarded(directory, () => {
        const staged = join(staging, PARAMETERS_FILE)
        writeSafetensors(staged, parameterTensors(manifest.spec, parameters), {})
        writeProbe(join(staging, PROBE_FILE), manifest.spec, probe)
        const full: RouterManifest = {
          ...manifest,
          schemaVersion: ROUTER_SCHEMA_VERSION,
          rotations: manifest.rotations.map((rotation) => ({
            ...rotation,
            recordSha256: hashFileSync(join(staging, rotationPath(rotation.rotation, rotation.inputs), ROTATION_FILE)),
          })),
          means: rotationMeans(manifest.rotations),
          parametersSha256: hashFileSync(staged),
          probeSha256: hashFileSync(join(staging, PROBE_FILE)),
        }
        writeSynced(join(staging, MANIFEST_FILE), toJson(full))
        rmSync(join(directory, MANIFEST_FILE), { force: true })
        rmSync(join(directory, ROTATIONS_DIRECTORY), { recursive: true, force: true })
        for (const name of [ROTATIONS_DIRECTORY, PARAMETERS_FILE, PROBE_FILE, MANIFEST_FILE]) {
          renameSync(join(staging, name), join(directory, name))
          syncDirectory(directory)
        }
        rmSync(staging, { recursive: true, force: true })
        return full
      })
    },
    discard: () => rmSync(staging, { recursive: true, force: true }),
  }
}

function guarded<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
      throw new AppError('disk-full', `no room left while writing ${path}: free some space and train again`, { cause })
    throw new AppError('option-invalid', `cannot write ${path} (${code}): choose another --out`, { cause })
  }
}
