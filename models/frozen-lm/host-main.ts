/** Entry of the child process that owns a model; started by supervised-host.ts and gone when its parent is. */
import { invariant } from '../../src/errors.ts'
import { createExtractor } from './create-extractor.ts'
import { createExtractionHost } from './extraction-host.ts'
import type { ToHost } from './host-protocol.ts'

const send = invariant(process.send, 'host-main is started with an IPC channel').bind(process)
const receive = createExtractionHost((message) => {
  send(message)
}, createExtractor)

process.on('message', (message) => receive(message as ToHost))
process.on('disconnect', () => process.exit(0))
// Ctrl-C reaches the whole process group; the parent decides when this process ends.
process.on('SIGINT', () => undefined)
