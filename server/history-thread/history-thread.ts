/**
 * The HTTP side's handle on the history thread: starts it, and another one when it ends by itself (a body that exhausts
 * its heap). Calls that were inside fail; calls to come wait for the next thread.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { compiledEntry } from '../../models/package-root.ts'
import type { HistoryAnswer, HistoryCall } from '../answer-call.ts'
import type { RouterDescription } from '../describe-router.ts'
import { type OpenThread, openThread } from './open-thread.ts'
import type { ThreadOptions, ThreadStatus } from './thread-protocol.ts'

/** Before another thread starts: one that cannot start must not be started in a tight loop. */
const RESTART_MS = 500

export interface HistoryThread {
  readonly router: RouterDescription
  status(): ThreadStatus
  /** @throws what answerCall throws, host-crashed */
  answer(call: HistoryCall): Promise<HistoryAnswer>
  /** Ends the thread and the model's process; calls that are not answered fail. */
  close(): Promise<void>
}

/**
 * @param start.entry what the thread runs; tests replace it
 * @param start.onNote told what openReadiness says while it opens, at every start
 * @throws what openReadiness throws, host-crashed; nothing is left running then
 */
export async function startHistoryThread(
  options: ThreadOptions,
  start: { readonly entry?: string; readonly onNote?: (line: string) => void } = {},
): Promise<HistoryThread> {
  const { entry = compiledEntry('server/history-thread/history-thread-main.js'), onNote = () => undefined } = start
  const closing = new AbortController()
  let newest = await openThread(options, { entry, onNote })
  let serving = Promise.resolve(newest)

  const restart = async (): Promise<OpenThread> => {
    await pause(RESTART_MS, undefined, { signal: closing.signal })
    newest = await openThread(options, { entry, onNote })
    supervise(newest)
    return newest
  }
  const supervise = (thread: OpenThread): void => {
    thread.onEnd(() => {
      if (closing.signal.aborted) return
      serving = restart()
      // Each call that waits reports the failure itself, and the next one tries again.
      serving.catch(() => undefined)
    })
  }
  supervise(newest)

  return {
    router: newest.router,
    status: () => newest.status(),
    async answer(call) {
      serving = serving.catch(restart)
      return (await serving).answer(call)
    },
    async close() {
      closing.abort()
      await newest.close()
    },
  }
}
