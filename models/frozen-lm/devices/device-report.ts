/**
 * What a machine offers for each device, and for one that is not usable what is missing and what to do: facts in,
 * verdicts out. Nothing is looked up here.
 */
import type { Device } from '../port.ts'

/** Facts about this machine, as node-prober.ts finds them; tests write them by hand. */
export interface MachineFacts {
  /** `linux-x64` */
  readonly platform: string
  readonly runtimeVersion: string
  /** Folder of the runtime's native files. */
  readonly runtimeFolder: string
  /** Names that the runtime was built with; whether they work is another question. */
  readonly backends: readonly string[]
  /** Library name or path -> null if the dynamic linker loads it, else what it says. */
  readonly libraries: Readonly<Record<string, string | null>>
  /** One line per GPU, as nvidia-smi names them; null where there is no nvidia-smi. */
  readonly nvidiaGpus: readonly string[] | null
  readonly cpuCount: number
}

export interface DeviceCheck {
  readonly what: string
  readonly ok: boolean
  /** What was found, or what the system said. */
  readonly found: string
  /** What to do about a failed check; null where it passed. */
  readonly remedy: string | null
}

export interface DeviceReport {
  readonly device: Device
  readonly usable: boolean
  readonly summary: string
  readonly checks: readonly DeviceCheck[]
}

/** What a session on the device gave: its largest difference from the CPU, or why there is none. */
export type DeviceTrial =
  | { readonly ok: true; readonly worst: number; readonly tolerance: number }
  | { readonly ok: false; readonly code: string; readonly message: string }

export const CUDA_PROVIDERS = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'] as const
const CUDA_LIBRARIES = [
  ...['libcudart.so.12', 'libcublas.so.12', 'libcublasLt.so.12', 'libcufft.so.11', 'libcurand.so.10'],
] as const
const CUDNN = 'libcudnn.so.9'
const CUDA_DRIVER = 'libcuda.so.1'
const VULKAN = 'libvulkan.so.1'

/** Libraries to ask the linker for; the runtime's own come with their folder. */
export const PROBED_LIBRARIES: readonly string[] = [CUDA_DRIVER, ...CUDA_LIBRARIES, CUDNN, VULKAN]

/** The part of a report that needs no session: what the machine lacks, in the order in which to get it. */
export function checkMachine(device: Device, facts: MachineFacts): readonly DeviceCheck[] {
  if (device === 'cpu') return []
  const backend = {
    what: `the runtime was built with ${device}`,
    ok: facts.backends.includes(device),
    found: `onnxruntime ${facts.runtimeVersion} for ${facts.platform} has ${facts.backends.join(', ')}`,
    remedy:
      device === 'cuda' ? 'use a machine with Linux on x64: there is no other build with CUDA' : 'use another platform',
  }
  const checks = device === 'cuda' ? cudaChecks(facts) : webgpuChecks(facts)
  return [backend, ...checks].map((check) => (check.ok ? { ...check, remedy: null } : check))
}

/** @param trial null where a failed check made one pointless */
export function reportDevice(device: Device, facts: MachineFacts, trial: DeviceTrial | null): DeviceReport {
  if (device === 'cpu') {
    const summary = `onnxruntime ${facts.runtimeVersion}, ${facts.platform}, ${facts.cpuCount} cores`
    return { device, usable: true, summary, checks: [] }
  }
  const machine = checkMachine(device, facts)
  const checks = trial === null ? machine : [...machine, trialCheck(device, trial)]
  const failed = checks.filter((check) => !check.ok)
  if (failed.length > 0 || trial === null) {
    const more = failed.length > 1 ? ` and ${failed.length - 1} more` : ''
    return { device, usable: false, summary: `missing: ${failed[0]?.what}${more}`, checks }
  }
  const names = device === 'cuda' ? (facts.nvidiaGpus?.join(', ') ?? 'a GPU') : 'a WebGPU adapter'
  return { device, usable: true, summary: `${names}; ${trialCheck(device, trial).found}`, checks }
}

function cudaChecks(facts: MachineFacts): readonly DeviceCheck[] {
  const { nvidiaGpus, runtimeFolder } = facts
  const script = `${runtimeFolder.replace(/bin.napi-v\d+.*$/, '')}script/install.js`
  return [
    libraries(facts, [CUDA_DRIVER], {
      what: `the NVIDIA driver (${CUDA_DRIVER})`,
      remedy: 'install the NVIDIA driver; in a container: start it with --gpus all and the NVIDIA container toolkit',
    }),
    {
      what: 'an NVIDIA GPU',
      // Some containers have the driver and not this tool: then the session decides.
      ok: nvidiaGpus === null || nvidiaGpus.length > 0,
      found: nvidiaGpus === null ? 'nvidia-smi is not there to ask' : nvidiaGpus.join(', ') || 'nvidia-smi lists none',
      remedy: 'check that nvidia-smi lists the GPU; in a container: start it with --gpus all',
    },
    providerFiles(facts, {
      what: `the CUDA provider beside the runtime (${CUDA_PROVIDERS.join(', ')})`,
      remedy: `ONNXRUNTIME_NODE_INSTALL=true node ${script} (fetches it; the value cuda12 does nothing in 1.30)`,
    }),
    libraries(facts, CUDA_LIBRARIES, {
      what: 'the CUDA 12 libraries',
      remedy: 'install the CUDA 12 runtime, or start from a CUDA 12 image (Dockerfile.cuda, target serve)',
    }),
    libraries(facts, [CUDNN], {
      what: `cuDNN 9 (${CUDNN})`,
      remedy: 'install cuDNN 9 for CUDA 12, or start from an image that has it (Dockerfile.cuda, target serve)',
    }),
  ]
}

function webgpuChecks(facts: MachineFacts): readonly DeviceCheck[] {
  // Windows and macOS bring Direct3D 12 and Metal with the system.
  if (!facts.platform.startsWith('linux-')) return []
  return [
    libraries(facts, [VULKAN], {
      what: `the Vulkan loader (${VULKAN})`,
      remedy: "install the Vulkan loader (Debian and Ubuntu: libvulkan1) and the GPU's Vulkan driver",
    }),
  ]
}

interface CheckText {
  readonly what: string
  readonly remedy: string
}

function libraries(facts: MachineFacts, names: readonly string[], text: CheckText): DeviceCheck {
  const said = names.map((name) => facts.libraries[name] ?? null)
  const missing = said.filter((message) => message !== null)
  return { ...text, ok: missing.length === 0, found: missing.length === 0 ? 'loads' : missing.join('; ') }
}

/** A provider that is there but lacks a library of its own is not missing: the checks of those libraries tell. */
function providerFiles(facts: MachineFacts, text: CheckText): DeviceCheck {
  const missing = CUDA_PROVIDERS.filter((name) => {
    const path = `${facts.runtimeFolder}${name}`
    return facts.libraries[path]?.startsWith(`${path}: cannot open`) ?? false
  })
  const found = missing.length === 0 ? 'is there' : `${missing.join(' and ')} not in ${facts.runtimeFolder}`
  return { ...text, ok: missing.length === 0, found }
}

function trialCheck(device: Device, trial: DeviceTrial): DeviceCheck {
  const what = `a session on ${device} that computes what the CPU computes`
  if (trial.ok) {
    const found = `self-check: ${trial.worst.toExponential(1)} from the CPU, limit ${trial.tolerance.toExponential(0)}`
    return { what, ok: true, found, remedy: null }
  }
  return {
    what,
    ok: false,
    found: `${trial.message.replace(/\s+/g, ' ').trim()} [${trial.code}]`,
    remedy: trialRemedy(device, trial),
  }
}

function trialRemedy(device: Device, trial: Extract<DeviceTrial, { ok: false }>): string {
  if (trial.code === 'device-self-check-failed')
    return 'update the driver, or use --device cpu: results that differ are worse than slow ones'
  if (device === 'webgpu' && /adapter/i.test(trial.message))
    return 'install a Vulkan driver for the GPU (Mesa 23 or newer: mesa-vulkan-drivers; NVIDIA: it is in the driver)'
  return 'read what the runtime says above; a library of another major version is the usual cause'
}
