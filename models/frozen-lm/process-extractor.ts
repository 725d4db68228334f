/**
 * An extractor whose model lives in a child process that is started once: what parallel extraction makes several of.
 * Sessions of one process would share its heap and its fate; processes share only the page cache.
 */
import type { Extractor, ExtractorOptions } from './extraction.ts'
import { closedError } from './extraction-client.ts'
import { endHostProcess, startHostProcess } from './host-process.ts'

export interface ProcessExtractor extends Extractor {
  readonly pid: number | undefined
}

/**
 * @throws what createExtractor throws, or host-crashed; nothing is left running then. Later `extract` throws host-crashed
 *   once the process has ended by itself
 */
export async function startProcessExtractor(options: ExtractorOptions): Promise<ProcessExtractor> {
  const host = startHostProcess()
  try {
    const opened = await host.client.open(options)
    return {
      ...opened,
      pid: host.child.pid,
      extract: host.client.extract,
      close: () => endHostProcess(host, closedError()),
    }
  } catch (error) {
    await endHostProcess(host, closedError())
    throw error
  }
}
