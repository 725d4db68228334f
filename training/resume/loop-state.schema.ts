/** state.json of a job's work folder. */
import { z } from 'zod'
import { epoch } from '../../models/router/router-parts.schema.ts'

const stateFile = z.strictObject({
  epochs: z.array(epoch),
  rng: z.array(z.number().int()),
  step: z.number().int().nonnegative(),
  /** Parameters and both moments after the last epoch. */
  tensors: z.string(),
  /** Of the best epoch; parameters null: those of `tensors`. */
  best: z.strictObject({ epoch: z.number().int(), score: z.number(), parameters: z.string().nullable() }).nullable(),
})
export type StateFile = z.infer<typeof stateFile>

/** @returns null for what is no state file of this version: the job starts over then */
export function parseStateFile(text: string): StateFile | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Damaged from outside: there is nothing to go on with.
    return null
  }
  const result = stateFile.safeParse(value)
  return result.success ? result.data : null
}
