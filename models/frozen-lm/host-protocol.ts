/**
 * What is said between an extraction client and the thread or process that owns the model. Every message is a
 * structured-cloneable value; errors cross as plain records and become AppErrors again.
 */
import { AppError, type ErrorCode, type ErrorDetails, toAppError } from '../../src/errors.ts'
import type { Extraction, ExtractionProgress, ExtractionRequest, Extractor, ExtractorOptions } from './extraction.ts'

export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly details: ErrorDetails
}

/** What opening gave. */
export type OpenedModel = Pick<Extractor, 'representation' | 'selfCheck'>

/** `open` comes first and once; `cancel` of an id that is unknown or done means nothing. */
export type ToHost =
  | { readonly kind: 'open'; readonly options: ExtractorOptions }
  | { readonly kind: 'extract'; readonly id: number; readonly request: ExtractionRequest }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'close' }

/** One answer to `open`; to each `extract` any number of `progress` and one answer; `closed` as the last word. */
export type FromHost =
  | ({ readonly kind: 'opened' } & OpenedModel)
  | { readonly kind: 'open-failed'; readonly error: WireError }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: ExtractionProgress }
  | { readonly kind: 'extracted'; readonly id: number; readonly extraction: Extraction }
  | { readonly kind: 'failed'; readonly id: number; readonly error: WireError }
  | { readonly kind: 'closed' }

export function toWireError(thrown: unknown): WireError {
  const { code, message, details } = toAppError(thrown)
  return { code, message, details }
}

export function fromWireError(error: WireError): AppError {
  return new AppError(error.code, error.message, { details: error.details })
}
