/**
 * A representation as datasets and router artefacts store it.
 */
import { z } from 'zod'
import { RECENT_WINDOWS, RECIPE_NAMES } from '../../src/view/recipe.ts'
import type { Representation } from './representation.ts'

const natural = z.number().int().nonnegative()
const positive = z.number().int().positive()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

export const representationSchema: z.ZodType<Representation> = z.strictObject({
  model: z.strictObject({ name: z.string(), architecture: z.string(), hiddenSize: positive, filesSha256: sha256 }),
  layer: natural,
  storageDtype: z.enum(['f16', 'f32']),
  quantize: z.enum(['int8']).optional(),
  precision: z.enum(['f16']).optional(),
  recipe: z.strictObject({
    name: z.enum(RECIPE_NAMES),
    recentInteractions: natural,
    window: z.enum(RECENT_WINDOWS).default('fixed'),
    budgets: z.strictObject({
      view: positive,
      head: positive,
      recent: positive,
      state: positive,
      target: positive,
      readout: positive,
    }),
  }),
  graphVersion: natural,
  recipeVersion: natural,
})
