/**
 * Looks at this machine. Libraries are loaded, and sessions made, in child processes: the dynamic linker itself says what
 * is missing, search path and dependencies included, and a driver that aborts takes nothing else with it.
 */
import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { compiledEntry } from '../../package-root.ts'
import type { Device } from '../port.ts'
import { CUDA_PROVIDERS, type DeviceTrial, type MachineFacts, PROBED_LIBRARIES } from './device-report.ts'
import { runtimeBackends, runtimeFolder, runtimeVersion } from './runtime.ts'

export interface DeviceProber {
  facts(): Promise<MachineFacts>
  /** Never rejects: what went wrong is the result. */
  tryDevice(device: Device): Promise<DeviceTrial>
}

const run = promisify(execFile)

/** A driver may take its time to compile shaders; a hung one must not hang the command. */
const TRIAL_MS = 120_000
const NVIDIA_SMI_MS = 10_000

/** Any library may be given to dlopen; one that is no addon is loaded and then refused, which is what we ask. */
const LOAD_LIBRARIES = `
  const said = {}
  for (const name of process.argv.slice(1))
    try { process.dlopen({ exports: {} }, name); said[name] = null }
    catch (error) { said[name] = /did not self-register/.test(error.message) ? null : error.message }
  console.log(JSON.stringify(said))`

export function createNodeProber(): DeviceProber {
  return {
    async facts() {
      const folder = runtimeFolder()
      const names = [...PROBED_LIBRARIES, ...CUDA_PROVIDERS.map((name) => folder + name)]
      const { stdout } = await run(process.execPath, ['-e', LOAD_LIBRARIES, ...names])
      return {
        platform: `${process.platform}-${process.arch}`,
        runtimeVersion: runtimeVersion(),
        runtimeFolder: folder,
        backends: runtimeBackends(),
        libraries: JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, string | null>,
        nvidiaGpus: await nvidiaGpus(),
        cpuCount: availableParallelism(),
      }
    },
    async tryDevice(device) {
      const entry = compiledEntry('models/frozen-lm/devices/trial-main.js')
      try {
        const { stdout } = await run(process.execPath, [entry, device], { timeout: TRIAL_MS })
        return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as DeviceTrial
      } catch (thrown) {
        const { signal, stderr } = thrown as { readonly signal?: string | null; readonly stderr?: string }
        const how = signal ? `signal ${signal}` : 'an error'
        const last = stderr?.trim().split('\n').at(-1) ?? String(thrown)
        return { ok: false, code: 'host-crashed', message: `the process that tried it ended with ${how}: ${last}` }
      }
    },
  }
}

async function nvidiaGpus(): Promise<readonly string[] | null> {
  const fields = 'name,driver_version,memory.total'
  try {
    const { stdout } = await run('nvidia-smi', [`--query-gpu=${fields}`, '--format=csv,noheader'], {
      timeout: NVIDIA_SMI_MS,
    })
    return stdout.trim().split('\n').filter(Boolean)
  } catch (thrown) {
    // Anything but a missing program is a driver that it cannot talk to: no GPU.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT' ? null : []
  }
}
