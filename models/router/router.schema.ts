/**
 * Parses router.json and rotation.json. Everything past this file is trusted.
 */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { OPERATING_POINT_NAMES, type OperatingPoints } from '../../src/router/operating-points.ts'
import { representationSchema } from '../frozen-lm/representation.schema.ts'
import { representationId } from '../frozen-lm/representation.ts'
import { ROUTER_SCHEMA_VERSION, type RotationRecord, type RouterManifest } from './manifest.ts'
import { INPUT_KINDS, type RouterSpec } from './spec.ts'
import type { BlockStandardisation, Standardisation } from './standardisation.ts'

const natural = z.number().int().nonnegative()
const positive = z.number().int().positive()
const share = z.number().min(0).max(1)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const version = z.literal(ROUTER_SCHEMA_VERSION)

const spec: z.ZodType<RouterSpec> = z
  .strictObject({
    inputs: z.enum(INPUT_KINDS),
    hiddenSize: natural,
    evidenceSize: natural,
    width: natural,
    dropout: z.number().min(0).lt(1),
  })
  .refine((value) => value.inputs === 'evidence' || value.hiddenSize > 0, 'hidden inputs need a hiddenSize')
  .refine((value) => value.inputs === 'hidden' || value.evidenceSize > 0, 'evidence inputs need an evidenceSize')

const blockStandardisation: z.ZodType<BlockStandardisation> = z
  .strictObject({ mean: z.array(z.number()), std: z.array(z.number().positive()) })
  .refine((value) => value.mean.length === value.std.length, 'mean and std differ in length')
  .transform((value) => ({ mean: Float64Array.from(value.mean), std: Float64Array.from(value.std) }))

const standardisation: z.ZodType<Standardisation> = z
  .strictObject({
    h: blockStandardisation.optional(),
    q: blockStandardisation.optional(),
    m: blockStandardisation.optional(),
    x: blockStandardisation.optional(),
  })
  .transform((value) => Object.fromEntries(Object.entries(value).filter(([, block]) => block !== undefined)))

const figures = z.strictObject({
  pairs: natural,
  positives: natural,
  selectedPairs: natural,
  selectedGroups: natural,
  precision: share.nullable(),
  recall: share.nullable(),
})

const operatingPoint = z.strictObject({
  name: z.enum(OPERATING_POINT_NAMES),
  tauLogit: z.number().nullable(),
  tau: share.nullable(),
  validation: figures,
  reason: z.string().nullable(),
})

const operatingPoints: z.ZodType<OperatingPoints> = z.strictObject({
  points: z.strictObject({
    precision: operatingPoint,
    f1: operatingPoint,
    cost: operatingPoint,
    fixed: operatingPoint,
  }),
  calibration: z.strictObject({ scores: z.array(z.number()), values: z.array(share) }).nullable(),
})

const splitMetrics = z.strictObject({
  trajectories: natural,
  pairs: natural,
  positives: natural,
  withinAuroc: share.nullable(),
  prAuc: share.nullable(),
  lossNats: z.number(),
})

const epoch = z.strictObject({
  epoch: positive,
  trainLossNats: z.number(),
  validationLossNats: z.number(),
  validationPrAuc: share.nullable(),
})

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

const numbers = z.array(z.number())

const manifest: z.ZodType<RouterManifest> = z.strictObject({
  schemaVersion: version,
  spec,
  trainedInputs: z.array(z.enum(INPUT_KINDS)),
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
  rotations: z.array(
    z.strictObject({
      inputs: z.enum(INPUT_KINDS),
      rotation: natural,
      bestEpoch: natural,
      validation: splitMetrics,
      test: splitMetrics,
    }),
  ),
  prevalence: z.strictObject({ training: share, validation: share, byDomain: z.record(z.string(), share) }),
  quantiles: z.strictObject({ levels: numbers, score: numbers, interactions: numbers, sourceTokens: numbers }),
  groups: z.strictObject({ training: z.array(z.string()), validation: z.array(z.string()) }),
  data: z.strictObject({ runsSha256: sha256, labelsSha256: sha256, files: z.record(z.string(), z.string()) }),
  engine: z.strictObject({ backend: z.string(), version: z.string(), node: z.string() }),
  source: z.string(),
  parametersSha256: sha256,
})

const predictions = z
  .strictObject({ pairs: z.array(natural), logits: numbers })
  .refine((value) => value.pairs.length === value.logits.length, 'pairs and logits differ in length')

const rotationRecord: z.ZodType<RotationRecord> = z.strictObject({
  schemaVersion: version,
  spec,
  rotation: natural,
  bestEpoch: natural,
  epochs: z.array(epoch),
  operatingPoints,
  validation: splitMetrics,
  test: splitMetrics,
  validationPredictions: predictions,
  testPredictions: predictions,
})

/** @throws router-invalid, router-version-unsupported */
export function parseRouterManifest(path: string, text: string): RouterManifest {
  const parsed = parse(manifest, path, text)
  const id = representationId(parsed.representation)
  if (id !== parsed.representationId)
    throw routerInvalid(path, `representationId is ${parsed.representationId}, its representation has ${id}`)
  return parsed
}

/** @throws router-invalid, router-version-unsupported */
export function parseRotationRecord(path: string, text: string): RotationRecord {
  return parse(rotationRecord, path, text)
}

export function routerInvalid(path: string, why: string, cause?: unknown): AppError {
  return new AppError(
    'router-invalid',
    `${path} is no usable part of a router artefact: ${why}: make it again with \`keepready train DATASET --out ROUTER\``,
    { details: { path }, cause },
  )
}

function parse<T>(schema: z.ZodType<T>, path: string, text: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw routerInvalid(path, `it is no JSON (${cause instanceof Error ? cause.message : String(cause)})`, cause)
  }
  const found = z.looseObject({ schemaVersion: z.number() }).safeParse(value)
  if (found.success && found.data.schemaVersion !== ROUTER_SCHEMA_VERSION)
    throw new AppError(
      'router-version-unsupported',
      `${path} has router schema version ${found.data.schemaVersion}, this keepready reads version ${ROUTER_SCHEMA_VERSION}: use the keepready that made it, or train again`,
      { details: { path, version: found.data.schemaVersion, supported: ROUTER_SCHEMA_VERSION } },
    )
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw routerInvalid(path, `${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not as expected'}`)
}
