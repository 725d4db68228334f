/** Where a report's numbers came from: the part of metrics.json that a comparison reads. */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { EVALUATION_SCHEMA_VERSION } from '../evaluation/evaluation-record.ts'

export interface ReportSource {
  readonly dataset: string
  readonly router: string
}

const metricsFile = z.object({
  schemaVersion: z.number().int().min(1).max(EVALUATION_SCHEMA_VERSION),
  dataset: z.object({ directory: z.string() }),
  router: z.object({ directory: z.string() }),
})

/** @throws option-invalid when the file is none that keepready evaluate wrote, or one of a newer keepready */
export function parseReportSource(path: string, text: string): ReportSource {
  const parsed = metricsFile.safeParse(jsonOf(text))
  if (!parsed.success)
    throw new AppError(
      'option-invalid',
      `${path} is no metrics.json of schema version 1 to ${EVALUATION_SCHEMA_VERSION} (${z.prettifyError(parsed.error).replaceAll('\n', ' ')}): ` +
        'give the folder that keepready evaluate --out wrote, or DATASET,ROUTER',
    )
  return { dataset: parsed.data.dataset.directory, router: parsed.data.router.directory }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
