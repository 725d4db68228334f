/**
 * A child process that owns a model, and the client that talks to it: what the supervised extractor starts again and
 * again and a process extractor once.
 */
import { type ChildProcess, fork } from 'node:child_process'
import type { AppError } from '../../src/errors.ts'
import { compiledEntry } from '../package-root.ts'
import { crashedError, createExtractionClient, type ExtractionClient } from './extraction-client.ts'
import type { FromHost } from './host-protocol.ts'

export interface HostProcess {
  readonly child: ChildProcess
  readonly client: ExtractionClient
  /** Resolves when the child is gone, for whatever reason; what waited for it has failed then. */
  readonly ended: Promise<void>
}

export function startHostProcess(): HostProcess {
  const child = fork(compiledEntry('models/frozen-lm/host-main.js'), [], {
    serialization: 'advanced',
    execArgv: [],
    // What native code prints goes to stderr: stdout is for data.
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const client = createExtractionClient((message) => {
    // A message that cannot be sent goes to a child that is gone or about to be; its exit fails the request.
    child.send(message, (error) => {
      if (error !== null) child.kill('SIGKILL')
    })
  })
  child.on('message', (message) => client.receive(message as FromHost))
  const ended = new Promise<void>((resolve) => {
    const end = (how: string): void => {
      client.fail(crashedError(how))
      resolve()
    }
    child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`))
    child.on('error', (error) => end(error.message))
  })
  return { child, client, ended }
}

/** Kills the child; what waits for it fails with `reason`. */
export async function endHostProcess(host: HostProcess, reason: AppError): Promise<void> {
  host.client.fail(reason)
  host.child.kill('SIGKILL')
  await host.ended
}
