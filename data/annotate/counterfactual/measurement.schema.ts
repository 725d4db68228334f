/**
 * Lines of a measurements file: its header says what was measured, and with what; then one line per action.
 */
import { z } from 'zod'
import type { ActionMeasurement } from './measurement.ts'
import type { CounterfactualSettings } from './settings.ts'

export const MEASUREMENTS_SCHEMA_VERSION = 1
const KIND = 'keepready-counterfactual-measurements'

/** What decides every number of the file. */
export interface MeasurementsIdentity {
  readonly model: { readonly name: string; readonly filesSha256: string }
  readonly runsSha256: string
  readonly settings: CounterfactualSettings
}

const index = z.int().nonnegative()
const measured = { interaction: index, logProbability: z.number() }

const action = z.strictObject({
  trajectory: z.string().min(1),
  action: index,
  actionTokens: index,
  strata: z.array(
    z.strictObject({
      without: index.nullable(),
      lengthClass: index,
      targets: z.array(z.strictObject(measured)),
      placebos: z.array(z.strictObject({ ...measured, trajectory: z.string().min(1) })),
    }),
  ),
})

const header = z.object({ kind: z.literal(KIND), schemaVersion: z.literal(MEASUREMENTS_SCHEMA_VERSION) })

export function measurementsHeader(identity: MeasurementsIdentity): string {
  const { model, runsSha256, settings } = identity
  return JSON.stringify({ kind: KIND, schemaVersion: MEASUREMENTS_SCHEMA_VERSION, model, runsSha256, settings })
}

/** Whether it is the header of a measurements file of this version, whatever was measured. */
export function isMeasurementsHeader(value: unknown): boolean {
  return header.safeParse(value).success
}

/** null: no whole line of this version. */
export function parseMeasurement(value: unknown): ActionMeasurement | null {
  const parsed = action.safeParse(value)
  return parsed.success ? parsed.data : null
}
