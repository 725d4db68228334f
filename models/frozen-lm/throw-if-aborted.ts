import { AppError } from '../../src/errors.ts'

/** @throws the signal's reason if that is one of our errors, else interrupted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortError(signal)
}

/** Why an aborted signal was aborted, as one of our errors. */
export function abortError(signal: AbortSignal): AppError {
  if (signal.reason instanceof AppError) return signal.reason
  return new AppError('interrupted', 'extraction was cancelled by its caller', { cause: signal.reason })
}
