/**
 * The error of a router artefact that cannot be used, with what to do next.
 */
import { AppError } from '../../src/errors.ts'

/** @param why completes "... is no usable part of a router artefact: ..." */
export function routerInvalid(path: string, why: string, cause?: unknown): AppError {
  return new AppError(
    'router-invalid',
    `${path} is no usable part of a router artefact: ${why}: make it again with \`keepready train DATASET --out ROUTER\``,
    { details: { path }, cause },
  )
}
