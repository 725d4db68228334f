/** Where the native runtime lies and what it was built with. */
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import * as ort from 'onnxruntime-node'

/** The folder of the runtime's native files, with its ending separator. */
export function runtimeFolder(): string {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node')
  return join(dirname(dirname(entry)), 'bin', 'napi-v6', process.platform, process.arch) + sep
}

/** Providers of this build; one that is not among them would be dropped silently. */
export function runtimeBackends(): readonly string[] {
  return ort.listSupportedBackends().map(({ name }) => name)
}

export function runtimeVersion(): string {
  return ort.env.versions.node ?? ort.env.versions.common
}
