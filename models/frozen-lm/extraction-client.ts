/**
 * The caller's side of the protocol: matches answers to requests, and fails all of them when the host is gone.
 */
import { AppError } from '../../src/errors.ts'
import { abortError, throwIfAborted } from './abort-signal.ts'
import type { Extraction, ExtractionHooks, ExtractionRequest, ExtractorOptions } from './extraction.ts'
import { type FromHost, fromWireError, type OpenedModel, type ToHost } from './host-protocol.ts'

export interface ExtractionClient {
  /** @throws what opening the model threw in the host */
  open(options: ExtractorOptions): Promise<OpenedModel>
  /** Aborting rejects at once; the host stops between two runs. @throws what extraction threw in the host */
  extract(request: ExtractionRequest, hooks?: ExtractionHooks): Promise<Extraction>
  /** To be called with each message from the host. */
  receive(message: FromHost): void
  /** The host is gone: rejects everything that waits and everything to come. */
  fail(error: AppError): void
}

interface Waiting<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: AppError) => void
}

interface WaitingExtraction extends Waiting<Extraction> {
  readonly onProgress: ExtractionHooks['onProgress']
}

/** @param post sends one message to the host; may throw */
export function createExtractionClient(post: (message: ToHost) => void): ExtractionClient {
  const waiting = new Map<number, WaitingExtraction>()
  let opening: Waiting<OpenedModel> | null = null
  let gone: AppError | null = null
  let lastId = 0

  const take = (id: number): WaitingExtraction | undefined => {
    const entry = waiting.get(id)
    waiting.delete(id)
    return entry
  }

  return {
    open(options) {
      return new Promise((resolve, reject) => {
        if (gone !== null) throw gone
        opening = { resolve, reject }
        post({ kind: 'open', options })
      })
    },
    async extract(request, { signal, onProgress } = {}) {
      throwIfAborted(signal)
      if (gone !== null) throw gone
      lastId += 1
      const id = lastId
      const onAbort = (): void => {
        if (signal === undefined) return
        take(id)?.reject(abortError(signal))
        if (gone === null) post({ kind: 'cancel', id })
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      try {
        return await new Promise<Extraction>((resolve, reject) => {
          waiting.set(id, { resolve, reject, onProgress })
          post({ kind: 'extract', id, request })
        })
      } finally {
        waiting.delete(id)
        signal?.removeEventListener('abort', onAbort)
      }
    },
    receive(message) {
      switch (message.kind) {
        case 'opened':
          opening?.resolve({ representation: message.representation, selfCheck: message.selfCheck })
          return
        case 'open-failed':
          opening?.reject(fromWireError(message.error))
          return
        case 'progress':
          waiting.get(message.id)?.onProgress?.(message.progress)
          return
        case 'extracted':
          take(message.id)?.resolve(message.extraction)
          return
        case 'failed':
          take(message.id)?.reject(fromWireError(message.error))
          return
        case 'closed':
          return
        default:
          message satisfies never
      }
    },
    fail(error) {
      gone ??= error
      opening?.reject(error)
      for (const entry of waiting.values()) entry.reject(error)
      waiting.clear()
    },
  }
}

/** @param how e.g. `signal SIGKILL`, `exit code 1` */
export function crashedError(how: string): AppError {
  return new AppError(
    'host-crashed',
    `the process that runs the model ended (${how}); the request is lost, send it again`,
    { details: { how } },
  )
}

export function closedError(): AppError {
  return new AppError('interrupted', 'the extractor was closed')
}
