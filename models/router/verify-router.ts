/**
 * Whether a router artefact is what `train` wrote and still computes what the trainer computed: every hash, the records of
 * the rotations, and parity on the probe rows. Knows no dataset; training/verify-against-dataset.ts does.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../src/errors.ts'
import {
  type RouterArtefact,
  readRotation,
  readRotationParameters,
  readRouter,
  readRouterManifest,
} from './artefact.ts'
import { hashFileSync, PROBE_FILE, ROTATION_FILE, ROTATIONS_DIRECTORY, rotationPath } from './artefact-files.ts'
import type { RotationEntry, RotationRecord, RouterManifest } from './manifest.ts'
import { makeProbe, type ProbeRows, readProbe } from './probe.ts'
import { largestDifference, recomputeProbe } from './recompute-probe.ts'
import { rotationMeans } from './rotation-means.ts'

/** Float32 sums in another order move a logit by about 1e-6 of its size. */
export const PARITY_TOLERANCE = 1e-5

export interface ParityCheck {
  readonly rows: number
  /** made: rows of the moment, for an artefact that has none (schema version 1); the trainer's logits are not known then. */
  readonly source: 'stored' | 'made'
  /** Largest difference to the expected logits, relative to max(1, |logit|). */
  readonly differences: readonly {
    readonly by: 'dense scorer' | 'projected scorer' | 'float64 forward pass'
    readonly relative: number
    readonly row: number
  }[]
  readonly tolerance: number
}

export interface VerifiedRouter {
  readonly directory: string
  readonly schemaVersion: number
  /** Files whose SHA-256 was compared with one in the artefact. */
  readonly hashedFiles: number
  readonly rotations: number
  /** Null where the parameters cannot be read. */
  readonly parity: ParityCheck | null
  /** What is wrong, in words; empty for a good artefact. */
  readonly findings: readonly string[]
}

/** @throws file-not-found, router-invalid, router-version-unsupported where router.json itself cannot be read */
export async function verifyRouter(directory: string): Promise<VerifiedRouter> {
  const manifest = readRouterManifest(directory)
  const findings: string[] = []
  const attempt = <T>(check: () => T): T | null => collect(findings, check)
  const router = attempt(() => readRouter(directory))
  const probe = router === null ? null : attempt(() => probeOf(router))
  let hashedFiles = (router === null ? 0 : 1) + (probe?.pairs == null ? 0 : 1)
  for (const entry of manifest.rotations) hashedFiles += attempt(() => verifyRotation(directory, manifest, entry)) ?? 0
  findings.push(...strayRotations(directory, manifest), ...leaksOfManifest(manifest))
  if (!isDeepStrictEqual(rotationMeans(manifest.rotations), manifest.means))
    findings.push(`${directory}: means in router.json are not those of its rotations`)
  const parity = router === null || probe === null ? null : await tryParity(router, probe, findings)
  return {
    directory,
    schemaVersion: manifest.schemaVersion,
    hashedFiles,
    rotations: manifest.rotations.length,
    parity,
    findings,
  }
}

/** The stored probe rows, their hash checked; made ones for an artefact that has none. @throws router-invalid */
export function probeOf(router: RouterArtefact): ProbeRows {
  const { directory, manifest, spec, parameters } = router
  if (manifest.probeSha256 === null) return makeProbe({ spec, parameters, standardisation: manifest.standardisation })
  const path = join(directory, PROBE_FILE)
  const probe = readProbe(path, spec)
  requireHash(path, manifest.probeSha256, 'router.json')
  return probe
}

/** Parameters that are not finite or fit no graph are findings too. */
async function tryParity(router: RouterArtefact, probe: ProbeRows, findings: string[]): Promise<ParityCheck | null> {
  try {
    return await checkParity(router, probe, findings)
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.family !== 'inference') throw thrown
    findings.push(`${router.directory}: ${thrown.message}`)
    return null
  }
}

async function checkParity(router: RouterArtefact, probe: ProbeRows, findings: string[]): Promise<ParityCheck> {
  const { dense, projected, float64 } = await recomputeProbe(router, probe)
  const ways = [
    ['dense scorer', dense],
    ...(projected === null ? [] : ([['projected scorer', projected]] as const)),
    ['float64 forward pass', float64],
  ] as const
  const differences = ways.map(([by, logits]) => ({ by, ...largestDifference(logits, probe.logits) }))
  for (const { by, relative, row } of differences)
    if (!(relative <= PARITY_TOLERANCE))
      findings.push(
        `${router.directory}: the ${by} differs by ${relative.toExponential(1)} (relative) from the expected logit ` +
          `${probe.logits[row]} of probe row ${row}, the limit is ${PARITY_TOLERANCE}`,
      )
  const source = probe.pairs === null ? 'made' : 'stored'
  return { rows: probe.logits.length, source, differences, tolerance: PARITY_TOLERANCE }
}

/** @returns files whose hash was compared. @throws router-invalid */
function verifyRotation(directory: string, manifest: RouterManifest, entry: RotationEntry): number {
  const path = join(directory, rotationPath(entry.rotation, entry.inputs), ROTATION_FILE)
  const record = readRotation(directory, entry)
  if (entry.recordSha256 !== null) requireHash(path, entry.recordSha256, 'router.json')
  readRotationParameters(directory, record)
  requireSameFigures(path, entry, record)
  const { groups } = record
  if (groups !== null) {
    const trained = new Set([...groups.training, ...groups.validation, ...(manifest.parent?.seenGroups ?? [])])
    const leaked = groups.test.filter((group) => trained.has(group))
    if (leaked.length > 0)
      throw invalid(
        path,
        `test groups ${leaked.slice(0, 3).join(', ')} are also among those it trained or validated on`,
      )
  }
  return (entry.recordSha256 === null ? 0 : 1) + (record.parametersSha256 === null ? 0 : 1)
}

function requireSameFigures(path: string, entry: RotationEntry, record: RotationRecord): void {
  for (const field of ['bestEpoch', 'validation', 'test'] as const)
    if (!isDeepStrictEqual(entry[field], record[field]))
      throw invalid(path, `its ${field} is not the one in router.json`)
}

/** A parent's groups that the manifest does not count among the seen ones. */
function leaksOfManifest({ groups, parent }: RouterManifest): readonly string[] {
  const training = new Set(groups.training)
  const missing = parent?.seenGroups.filter((group) => !training.has(group)) ?? []
  const both = groups.validation.filter((group) => training.has(group))
  return [
    ...(missing.length > 0 ? [`router.json: groups.training lacks ${missing.length} groups that its parent saw`] : []),
    ...(both.length > 0 ? [`router.json: ${both.length} groups stand in groups.training and groups.validation`] : []),
  ]
}

/** Folders that router.json does not know: what is evaluated could be another router's. */
function strayRotations(directory: string, manifest: RouterManifest): readonly string[] {
  const folder = join(directory, ROTATIONS_DIRECTORY)
  if (!existsSync(folder)) return []
  const known = new Set(manifest.rotations.map(({ rotation, inputs }) => rotationPath(rotation, inputs)))
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) =>
      readdirSync(join(folder, entry.name)).map((kind) => join(ROTATIONS_DIRECTORY, entry.name, kind)),
    )
    .filter((path) => !known.has(path))
    .map((path) => `${join(directory, path)} belongs to no rotation of router.json`)
}

function requireHash(path: string, expected: string, where: string): void {
  if (hashFileSync(path) !== expected) throw invalid(path, `its SHA-256 is not the one in ${where}`)
}

function invalid(path: string, why: string): AppError {
  return new AppError('router-invalid', `${path}: ${why}`)
}

/** Runs a check; an artefact error becomes a finding. */
function collect<T>(findings: string[], check: () => T): T | null {
  try {
    return check()
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.family !== 'artifact') throw thrown
    findings.push(thrown.message)
    return null
  }
}
