/** Names of models and revisions on the hub. Pure. They become paths, so what is no name is refused. */
import { AppError } from '../../src/errors.ts'

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}$/

/** `organisation/name`, or `name` alone for a few old models. */
export function isModelId(text: string): boolean {
  const segments = text.split('/')
  return segments.length <= 2 && segments.every((segment) => SEGMENT.test(segment) && !/--|\.\.|\.git$/.test(segment))
}

/** @throws option-invalid */
export function requireModelId(text: string): void {
  if (isModelId(text)) return
  throw new AppError(
    'option-invalid',
    `${JSON.stringify(text.slice(0, 200))} is no model of the hub: give ORGANISATION/NAME, e.g. HuggingFaceTB/SmolLM2-135M-Instruct`,
  )
}

/** @throws option-invalid */
export function requireRevision(text: string): void {
  const segments = text.split('/')
  if (segments.length <= 4 && segments.every((segment) => SEGMENT.test(segment) && !segment.includes('..'))) return
  throw new AppError(
    'option-invalid',
    `--revision ${JSON.stringify(text.slice(0, 200))} is no branch, tag or commit: give e.g. main, or the 40 digits of a commit`,
  )
}
