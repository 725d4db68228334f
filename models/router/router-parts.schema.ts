/**
 * Parts that router.json and rotation.json have in common.
 */
import { z } from 'zod'
import { OPERATING_POINT_NAMES, type OperatingPoints } from '../../src/router/operating-points.ts'
import { INPUT_KINDS, type RouterSpec } from './spec.ts'
import type { BlockStandardisation, Standardisation } from './standardisation.ts'

export const natural = z.number().int().nonnegative()
export const positive = z.number().int().positive()
export const share = z.number().min(0).max(1)
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
export const spec: z.ZodType<RouterSpec> = z
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

export const standardisation: z.ZodType<Standardisation> = z
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

export const operatingPoints: z.ZodType<OperatingPoints> = z.strictObject({
  points: z.strictObject({
    precision: operatingPoint,
    f1: operatingPoint,
    cost: operatingPoint,
    fixed: operatingPoint,
  }),
  calibration: z.strictObject({ scores: z.array(z.number()), values: z.array(share) }).nullable(),
})

export const splitMetrics = z.strictObject({
  trajectories: natural,
  pairs: natural,
  positives: natural,
  withinAuroc: share.nullable(),
  prAuc: share.nullable(),
  lossNats: z.number(),
})

export const epoch = z.strictObject({
  epoch: positive,
  trainLossNats: z.number(),
  validationLossNats: z.number(),
  validationPrAuc: share.nullable(),
})
