/** Entry of the worker thread that owns a model; started by worker-extractor.ts. */
import { parentPort } from 'node:worker_threads'
import { invariant } from '../../src/errors.ts'
import { createExtractor } from './create-extractor.ts'
import { createExtractionHost } from './extraction-host.ts'
import type { ToHost } from './host-protocol.ts'

const port = invariant(parentPort, 'worker-main runs in a worker thread')
const receive = createExtractionHost((message) => {
  port.postMessage(message)
  // Nothing else keeps this thread alive.
  if (message.kind === 'closed') port.close()
}, createExtractor)
port.on('message', (message: ToHost) => receive(message))
