/**
 * Everything a dataset directory holds as JSON: the extraction's options, the manifest, the metadata of Arrow files.
 */
import { z } from 'zod'
import { representationSchema } from '../../models/frozen-lm/representation.schema.ts'
import { type Representation, representationId } from '../../models/frozen-lm/representation.ts'
import { AppError } from '../../src/errors.ts'
import type { DatasetManifest, DatasetTrajectory } from './dataset.ts'
import { CONTENT_FILES } from './layout.ts'

/** Raised when files change in a way that older readers would misread. */
export const DATASET_SCHEMA_VERSION = 1

/** What the vectors depend on: a directory made with other values is never mixed with these. */
export interface ExtractionOptions {
  readonly schemaVersion: typeof DATASET_SCHEMA_VERSION
  readonly representationId: string
  readonly representation: Representation
  readonly maxCheckpointsPerRun: number
  readonly seed: number
  readonly runsSha256: string
}

/** manifest.json: what readers see of it, and what only the store itself needs. */
export interface StoredManifest {
  readonly manifest: DatasetManifest
  readonly trajectories: readonly DatasetTrajectory[]
  readonly topK: number
  readonly fileSizes: Readonly<Record<string, number>>
}

const natural = z.number().int().nonnegative()
const positive = z.number().int().positive()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const version = z.literal(DATASET_SCHEMA_VERSION)

const extractionOptions = z.strictObject({
  schemaVersion: version,
  representationId: z.string(),
  representation: representationSchema,
  maxCheckpointsPerRun: positive,
  seed: z.number().int(),
  runsSha256: sha256,
})

const manifestFile = z.strictObject({
  schemaVersion: version,
  representationId: z.string(),
  representation: representationSchema,
  evidenceNames: z.array(z.string()),
  topK: positive,
  maxCheckpointsPerRun: positive,
  seed: z.number().int(),
  inputs: z.strictObject({ runsSha256: sha256, labelsSha256: sha256 }),
  files: z.record(z.enum(CONTENT_FILES), z.strictObject({ sizeBytes: natural, sha256 })),
  groupMerges: z
    .array(
      z.strictObject({
        group: z.string(),
        members: z.array(z.string()),
        because: z.array(z.strictObject({ a: z.string(), b: z.string(), shared: natural, share: z.number() })),
      }),
    )
    .exactOptional(),
  counts: z.strictObject({
    trajectories: natural,
    groups: natural,
    pairs: natural,
    ready: natural,
    vectors: natural,
    computedTokens: natural,
  }),
  trajectories: z.array(z.strictObject({ id: z.string(), group: z.string(), domain: z.string(), length: natural })),
})
type ManifestFile = z.infer<typeof manifestFile>

const partMetadata = z.strictObject({ trajectory: z.string(), computedTokens: natural })
const vectorsMetadata = z.strictObject({ representationId: z.string(), computedTokens: natural })

/** @throws dataset-invalid */
export function parseExtractionOptions(path: string, text: string): ExtractionOptions {
  return parseJson(extractionOptions, path, text)
}

/** @throws dataset-invalid, also for another schema version or an id that does not fit its representation */
export function parseManifest(path: string, text: string): StoredManifest {
  const { trajectories, topK, files, ...rest } = parseJson(manifestFile, path, text)
  const id = representationId(rest.representation)
  if (id !== rest.representationId)
    throw invalid(path, `representationId is ${rest.representationId}, its representation has ${id}`)
  if (trajectories.length !== rest.counts.trajectories)
    throw invalid(path, `it lists ${trajectories.length} trajectories and counts ${rest.counts.trajectories}`)
  const entries = Object.entries(files)
  return {
    manifest: {
      ...rest,
      recipe: rest.representation.recipe.name,
      files: Object.fromEntries(entries.map(([name, file]) => [name, file.sha256])),
    },
    trajectories,
    topK,
    fileSizes: Object.fromEntries(entries.map(([name, file]) => [name, file.sizeBytes])),
  }
}

/** The text of manifest.json; the inverse of `parseManifest`. */
export function formatManifest(stored: StoredManifest): string {
  const { recipe: _, files, ...rest } = stored.manifest
  const file: ManifestFile = manifestFile.parse({
    ...rest,
    topK: stored.topK,
    files: Object.fromEntries(
      Object.entries(files).map(([name, hash]) => [name, { sizeBytes: stored.fileSizes[name], sha256: hash }]),
    ),
    trajectories: stored.trajectories,
  })
  return `${JSON.stringify(file, null, 2)}\n`
}

export function parsePartMetadata(path: string, value: unknown): z.infer<typeof partMetadata> {
  return parse(partMetadata, path, value)
}

export function parseVectorsMetadata(path: string, value: unknown): z.infer<typeof vectorsMetadata> {
  return parse(vectorsMetadata, path, value)
}

function parseJson<T>(schema: z.ZodType<T>, path: string, text: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    throw invalid(path, `it is no JSON (${thrown instanceof Error ? thrown.message : String(thrown)})`)
  }
  const found = z.looseObject({ schemaVersion: z.number() }).safeParse(value)
  if (found.success && found.data.schemaVersion !== DATASET_SCHEMA_VERSION)
    throw invalid(
      path,
      `its schema version is ${found.data.schemaVersion}, this keepready reads version ${DATASET_SCHEMA_VERSION}`,
    )
  return parse(schema, path, value)
}

function parse<T>(schema: z.ZodType<T>, path: string, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw invalid(path, `${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not as expected'}`)
}

function invalid(path: string, why: string): AppError {
  return new AppError(
    'dataset-invalid',
    `${path} is no dataset file of keepready: ${why}: make the dataset again with \`keepready extract ... --fresh\``,
    { details: { path } },
  )
}
