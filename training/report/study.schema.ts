/** Parses study.json of `keepready study`: what the report draws of it is checked, the rest is carried along. */
import { z } from 'zod'
import { INPUT_KINDS } from '../../models/router/spec.ts'
import { AppError } from '../../src/errors.ts'
import { STUDY_KINDS, STUDY_METRICS, STUDY_SCHEMA_VERSION, type StudyRecord } from '../studies/study-record.ts'

const value = z.number().nullable()
const interval = z.object({ low: z.number(), high: z.number() }).nullable()
const estimate = z.object({
  value,
  interval,
  readyGroups: z.number(),
  rotations: z.array(z.object({ value, interval, readyGroups: z.number() })),
})
const part = z.object({ groups: z.number(), runs: z.number(), pairs: z.number(), ready: z.number() })
const metricName = z.enum(STUDY_METRICS)

const studyFile = z.looseObject({
  schemaVersion: z.literal(STUDY_SCHEMA_VERSION),
  kind: z.enum(STUDY_KINDS),
  title: z.string(),
  method: z.string(),
  summary: z.array(z.string()),
  caveats: z.array(z.string()),
  axis: z.object({ label: z.string(), kind: z.enum(['share', 'category', 'seed']) }),
  metrics: z.array(z.object({ name: metricName, label: z.string(), chance: value })),
  predictors: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['router', 'baseline', 'reference']),
      inputs: z.enum(INPUT_KINDS).nullable(),
      description: z.string(),
    }),
  ),
  points: z.array(
    z.object({
      x: value,
      label: z.string(),
      rotations: z.array(z.number()),
      training: part,
      test: part,
      prevalence: value,
      values: z.array(
        z.object({
          predictor: z.string(),
          metrics: z.object({ withinAuroc: estimate, averagePrecision: estimate, lift: estimate }),
        }),
      ),
    }),
  ),
  seedSpread: z.array(
    z.object({
      predictor: z.string(),
      metric: metricName,
      seeds: z.number(),
      mean: z.number(),
      standardDeviation: z.number(),
      low: z.number(),
      high: z.number(),
      groupHalfWidth: value,
    }),
  ),
  differences: z.array(
    z.object({
      metric: metricName,
      a: z.object({ predictor: z.string(), point: z.string() }),
      b: z.object({ predictor: z.string(), point: z.string() }),
      difference: value,
      interval,
      verdict: z.enum(['beats', 'is-worse', 'no-difference-shown', 'cannot-tell']),
    }),
  ),
  dataset: z.looseObject({
    directory: z.string(),
    model: z.string(),
    layer: z.number(),
    recipe: z.string(),
    runsSha256: z.string(),
    labelsSha256: z.string(),
  }),
})

/** @throws option-invalid when the text is no study of this schema version */
export function parseStudy(path: string, text: string): StudyRecord {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw refused(path, error instanceof Error ? error.message : String(error))
  }
  const parsed = studyFile.safeParse(json)
  if (!parsed.success) throw refused(path, z.prettifyError(parsed.error).replaceAll('\n', ' '))
  return json as StudyRecord
}

function refused(path: string, why: string): AppError {
  return new AppError(
    'option-invalid',
    `${path} is no study of schema version ${STUDY_SCHEMA_VERSION} (${why}): make it again with this keepready`,
    { details: { path } },
  )
}
