/**
 * Responses that are not wholly handed over yet. A connection on which no request came (clients open some in advance)
 * holds a closing HTTP server for a minute; it only has to wait for these.
 */
import type { Server, ServerResponse } from 'node:http'

export interface OpenResponses {
  /** Resolves when every response that is open now has ended, or when `timeoutMs` have passed. */
  ended(timeoutMs: number): Promise<void>
}

export function watchResponses(server: Server): OpenResponses {
  const open = new Set<ServerResponse>()
  server.on('request', (_request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  return {
    async ended(timeoutMs) {
      const closed = [...open].map((response) => new Promise((resolve) => response.once('close', resolve)))
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, timeoutMs)
      })
      await Promise.race([Promise.all(closed), late])
      clearTimeout(timer)
    },
  }
}
