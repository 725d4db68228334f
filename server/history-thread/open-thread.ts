/**
 * One history thread: matches answers to calls, and fails all of them when the thread is gone.
 */
import { Worker } from 'node:worker_threads'
import { AppError } from '../../src/errors.ts'
import type { HistoryAnswer, HistoryCall } from '../answer-call.ts'
import type { RouterDescription } from '../describe-router.ts'
import {
  type FromThread,
  fromThreadError,
  type ThreadAnswer,
  type ThreadOptions,
  type ThreadStatus,
  type ToThread,
  toThreadError,
} from './thread-protocol.ts'

export interface OpenThread {
  readonly router: RouterDescription
  status(): ThreadStatus
  answer(call: HistoryCall): Promise<HistoryAnswer>
  onEnd(listener: () => void): void
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (answer: ThreadAnswer) => void
  readonly reject: (error: AppError) => void
}

type Opened = Extract<FromThread, { kind: 'opened' }>

/**
 * @param start.entry what the thread runs, a JavaScript file
 * @param start.onNote told what openReadiness says while it opens
 * @throws what openReadiness throws, host-crashed; nothing is left running then
 */
export async function openThread(
  options: ThreadOptions,
  start: { readonly entry: string; readonly onNote: (line: string) => void },
): Promise<OpenThread> {
  const { entry, onNote } = start
  const worker = new Worker(entry, {
    workerData: options,
    execArgv: [],
  })
  const waiting = new Map<number, Waiting>()
  const take = (id: number): Waiting | undefined => {
    const entry = waiting.get(id)
    waiting.delete(id)
    return entry
  }
  let why = 'it was closed'
  let gone: AppError | null = null
  worker.on('error', (error) => {
    why = error instanceof Error ? error.message : String(error)
  })
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      gone = new AppError('host-crashed', `the thread that reads histories ended (${why}): send the request again`)
      for (const entry of waiting.values()) entry.reject(gone)
      waiting.clear()
      resolve()
    })
  })
  const opened = await new Promise<Opened>((resolve, reject) => {
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'note') onNote(message.text)
      else if (message.kind === 'opened') resolve(message)
      else if (message.kind === 'open-failed') reject(fromThreadError(message.error))
    })
    ended.then(() => reject(gone), reject)
  })
  let { status } = opened
  worker.on('message', (message: FromThread) => {
    if (message.kind === 'status') status = message.status
    else if (message.kind === 'answered') take(message.id)?.resolve(message.answer)
    else if (message.kind === 'failed') take(message.id)?.reject(fromThreadError(message.error))
  })
  const post = (message: ToThread, transfer: readonly ArrayBuffer[] = []): void => worker.postMessage(message, transfer)
  let lastId = 0

  return {
    router: opened.router,
    status: () => (gone === null ? status : { ...status, ready: false }),
    async answer({ kind, body, signal }) {
      if (gone !== null) throw gone
      lastId += 1
      const id = lastId
      // The thread decides what a cancelled call gives: a compaction past its deadline is still an answer.
      const cancel = (): void => post({ kind: 'cancel', id, error: toThreadError(signal.reason) })
      if (signal.aborted) throw signal.reason
      signal.addEventListener('abort', cancel, { once: true })
      try {
        const answered = new Promise<ThreadAnswer>((resolve, reject) => waiting.set(id, { resolve, reject }))
        // A copy: small bodies of Node share one buffer, which must not be transferred away.
        const sent = Uint8Array.from(body)
        post({ kind: 'call', id, call: kind, body: sent }, [sent.buffer])
        const answer = await answered
        return { ...answer, noted: answer.noted.map(fromThreadError) }
      } finally {
        signal.removeEventListener('abort', cancel)
      }
    },
    onEnd(listener) {
      ended.then(listener, listener)
    },
    async close() {
      post({ kind: 'close' })
      await ended
    },
  }
}
