/** Abort signals whose reason is one of our errors. */
import { AppError } from '../../src/errors.ts'

/** @throws the signal's reason if that is one of our errors, else interrupted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortError(signal)
}

/** Why an aborted signal was aborted. */
export function abortError(signal: AbortSignal): AppError {
  if (signal.reason instanceof AppError) return signal.reason
  return new AppError('interrupted', 'extraction was cancelled by its caller', { cause: signal.reason })
}

/** The promise, or a rejection as soon as the signal is aborted; what the promise does then is nobody's. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  throwIfAborted(signal)
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(abortError(signal))
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
