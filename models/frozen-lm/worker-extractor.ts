/**
 * An extractor whose model lives in a worker thread, so that the caller's event loop goes on (progress, Ctrl-C).
 */
import { Worker } from 'node:worker_threads'
import { compiledEntry } from '../package-root.ts'
import type { Extractor, ExtractorOptions } from './extraction.ts'
import { closedError, crashedError, createExtractionClient } from './extraction-client.ts'
import type { FromHost } from './host-protocol.ts'

/**
 * @throws what createExtractor throws; later `extract` throws host-crashed if the thread ends by itself
 */
export async function startWorkerExtractor(options: ExtractorOptions): Promise<Extractor> {
  const worker = new Worker(compiledEntry('models/frozen-lm/worker-main.js'), { execArgv: [] })
  const client = createExtractionClient((message) => worker.postMessage(message))
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      client.fail(crashedError(`exit code ${code}`))
      resolve()
    })
  })
  worker.on('message', (message: FromHost) => client.receive(message))
  worker.on('error', (error) => client.fail(crashedError(error instanceof Error ? error.message : String(error))))

  const stop = async (): Promise<void> => {
    client.fail(closedError())
    worker.postMessage({ kind: 'close' })
    await ended
  }
  try {
    const opened = await client.open(options)
    return { ...opened, extract: client.extract, close: stop }
  } catch (error) {
    await stop()
    throw error
  }
}
