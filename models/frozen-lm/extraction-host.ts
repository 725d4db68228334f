/**
 * The host's side of the protocol, the same in a worker thread and in a child process: opens one extractor and serves
 * requests one after another. A cancelled request stops between two runs, or before it starts.
 */
import { AppError } from '../../src/errors.ts'
import type { ExtractionProgress, ExtractionRequest, Extractor, ExtractorOptions } from './extraction.ts'
import { type FromHost, type ToHost, toWireError } from './host-protocol.ts'

/** Least time between two messages of progress: a reader's eye, not every run. */
const PROGRESS_MS = 250

/**
 * @param post sends one message to the client
 * @returns what to call with each message from the client
 */
export function createExtractionHost(
  post: (message: FromHost) => void,
  open: (options: ExtractorOptions) => Promise<Extractor>,
): (message: ToHost) => void {
  const controllers = new Map<number, AbortController>()
  let extractor: Extractor | null = null
  let work = Promise.resolve()

  const progressSender = (id: number): ((progress: ExtractionProgress) => void) => {
    let sentMs = performance.now()
    return (progress) => {
      if (performance.now() - sentMs < PROGRESS_MS) return
      sentMs = performance.now()
      post({ kind: 'progress', id, progress })
    }
  }
  const openExtractor = async (options: ExtractorOptions): Promise<void> => {
    try {
      extractor = await open(options)
      const { representation, selfCheck } = extractor
      post({ kind: 'opened', representation, selfCheck })
    } catch (error) {
      post({ kind: 'open-failed', error: toWireError(error) })
    }
  }
  const extract = async (id: number, request: ExtractionRequest, signal: AbortSignal): Promise<void> => {
    try {
      if (extractor === null) throw new AppError('invariant', 'extraction was asked for before the model was opened')
      const extraction = await extractor.extract(request, { signal, onProgress: progressSender(id) })
      post({ kind: 'extracted', id, extraction })
    } catch (error) {
      post({ kind: 'failed', id, error: toWireError(error) })
    } finally {
      controllers.delete(id)
    }
  }
  const close = async (): Promise<void> => {
    try {
      await extractor?.close()
    } finally {
      post({ kind: 'closed' })
    }
  }

  return (message) => {
    switch (message.kind) {
      case 'open':
        work = work.then(() => openExtractor(message.options))
        return
      case 'extract': {
        const controller = new AbortController()
        controllers.set(message.id, controller)
        work = work.then(() => extract(message.id, message.request, controller.signal))
        return
      }
      case 'cancel':
        controllers.get(message.id)?.abort(new AppError('interrupted', 'extraction was cancelled by its caller'))
        return
      case 'close':
        for (const controller of controllers.values())
          controller.abort(new AppError('interrupted', 'the extractor was closed'))
        work = work.then(close)
        return
      default:
        message satisfies never
    }
  }
}
