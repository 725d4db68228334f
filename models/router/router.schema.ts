/**
 * Parses router.json and rotation.json, of this schema version and older ones. Everything past this file is trusted.
 */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { OPERATING_POINT_NAMES } from '../../src/router/operating-points.ts'
import { representationSchema } from '../frozen-lm/representation.schema.ts'
import { findContradiction } from './find-contradiction.ts'
import { ROUTER_SCHEMA_VERSION, type RotationRecord, type RouterManifest } from './manifest.ts'
import { rotationMeans } from './rotation-means.ts'
import { routerInvalid } from './router-invalid.ts'
import {
  epoch,
  natural,
  operatingPoints,
  positive,
  sha256,
  share,
  spec,
  splitMetrics,
  standardisation,
} from './router-parts.schema.ts'
import { INPUT_KINDS } from './spec.ts'

const inputKind = z.enum(INPUT_KINDS)
const numbers = z.array(z.number())
const groupHashes = z.array(z.string().regex(/^[0-9a-f]{16}$/))

const config = z.strictObject({
  width: natural,
  dropout: z.number(),
  epochs: positive,
  patience: positive,
  learningRate: z.number(),
  decay: z.number(),
  positiveWeight: z.number(),
  hiddenScale: z.number().positive(),
  minFuture: natural,
  seed: z.number().int(),
})

const rotationSummary = {
  inputs: inputKind,
  rotation: natural,
  bestEpoch: natural,
  validation: splitMetrics,
  test: splitMetrics,
}

const manifestFields = {
  spec,
  trainedInputs: z.array(inputKind),
  servedBecause: z.string(),
  topK: positive,
  evidenceNames: z.array(z.string()),
  representationId: z.string(),
  representation: representationSchema,
  standardisation,
  operatingPoints,
  defaultOperatingPoint: z.enum(OPERATING_POINT_NAMES),
  config,
  bestEpoch: natural,
  epochs: z.array(epoch),
  validation: splitMetrics,
  prevalence: z.strictObject({ training: share, validation: share, byDomain: z.record(z.string(), share) }),
  quantiles: z.strictObject({ levels: numbers, score: numbers, interactions: numbers, sourceTokens: numbers }),
  groups: z.strictObject({ training: groupHashes, validation: groupHashes }),
  data: z.strictObject({ runsSha256: sha256, labelsSha256: sha256, files: z.record(z.string(), z.string()) }),
  engine: z.strictObject({ backend: z.string(), version: z.string(), node: z.string() }),
  source: z.string(),
  parametersSha256: sha256,
}

const manifest1: z.ZodType<RouterManifest> = z
  .strictObject({ schemaVersion: z.literal(1), ...manifestFields, rotations: z.array(z.strictObject(rotationSummary)) })
  .transform((value) => ({
    ...value,
    rotations: value.rotations.map((rotation) => ({ ...rotation, recordSha256: null, start: null })),
    means: rotationMeans(value.rotations),
    parent: null,
    probeSha256: null,
  }))

const meanAndSpread = z
  .strictObject({ mean: z.number(), standardDeviation: z.number().nonnegative().nullable(), rotations: positive })
  .nullable()

const manifest2: z.ZodType<RouterManifest> = z.strictObject({
  schemaVersion: z.literal(ROUTER_SCHEMA_VERSION),
  ...manifestFields,
  rotations: z.array(
    z.strictObject({
      ...rotationSummary,
      recordSha256: sha256,
      start: z.strictObject({ validation: splitMetrics, test: splitMetrics }).nullable(),
    }),
  ),
  means: z.array(
    z.strictObject({
      inputs: inputKind,
      split: z.enum(['validation', 'test']),
      withinAuroc: meanAndSpread,
      prAuc: meanAndSpread,
    }),
  ),
  parent: z
    .strictObject({
      parametersSha256: sha256,
      source: z.string(),
      seenGroups: groupHashes,
      freshGroups: natural,
      validation: splitMetrics,
    })
    .nullable(),
  probeSha256: sha256,
})

const predictions = z
  .strictObject({ pairs: z.array(natural), logits: numbers })
  .refine((value) => value.pairs.length === value.logits.length, 'pairs and logits differ in length')

const recordFields = {
  spec,
  rotation: natural,
  bestEpoch: natural,
  epochs: z.array(epoch),
  operatingPoints,
  validation: splitMetrics,
  test: splitMetrics,
  validationPredictions: predictions,
  testPredictions: predictions,
}

const record1: z.ZodType<RotationRecord> = z
  .strictObject({ schemaVersion: z.literal(1), ...recordFields })
  .transform((value) => ({ ...value, startPredictions: null, groups: null, parametersSha256: null }))

const record2: z.ZodType<RotationRecord> = z.strictObject({
  schemaVersion: z.literal(ROUTER_SCHEMA_VERSION),
  ...recordFields,
  startPredictions: predictions.nullable(),
  groups: z.strictObject({ training: groupHashes, validation: groupHashes, test: groupHashes }),
  parametersSha256: sha256,
})

/** @throws router-invalid, router-version-unsupported */
export function parseRouterManifest(path: string, text: string): RouterManifest {
  const parsed = parse({ 1: manifest1, 2: manifest2 }, path, text)
  const contradiction = findContradiction(parsed)
  if (contradiction !== null) throw routerInvalid(path, contradiction)
  return parsed
}

/** @throws router-invalid, router-version-unsupported */
export function parseRotationRecord(path: string, text: string): RotationRecord {
  return parse({ 1: record1, 2: record2 }, path, text)
}

function parse<T>(schemas: Readonly<Record<1 | 2, z.ZodType<T>>>, path: string, text: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw routerInvalid(path, `it is no JSON (${cause instanceof Error ? cause.message : String(cause)})`, cause)
  }
  const found = z.looseObject({ schemaVersion: z.number().int().positive() }).safeParse(value)
  if (!found.success) throw routerInvalid(path, 'it names no schemaVersion')
  const { schemaVersion } = found.data
  if (schemaVersion > ROUTER_SCHEMA_VERSION)
    throw new AppError(
      'router-version-unsupported',
      `${path} has router schema version ${schemaVersion}, this keepready reads versions 1 to ${ROUTER_SCHEMA_VERSION}: ` +
        'update keepready to the version that made it, or train again',
      { details: { path, version: schemaVersion, supported: ROUTER_SCHEMA_VERSION } },
    )
  const result = (schemaVersion === 1 ? schemas[1] : schemas[2]).safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw routerInvalid(path, `${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not as expected'}`)
}
