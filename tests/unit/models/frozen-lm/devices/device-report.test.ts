import { describe, expect, it } from 'vitest'
import {
  CUDA_PROVIDERS,
  type DeviceTrial,
  type MachineFacts,
  PROBED_LIBRARIES,
} from '../../../../../models/frozen-lm/devices/device-report.ts'
import { listDevices } from '../../../../../models/frozen-lm/devices/list-devices.ts'
import type { Device } from '../../../../../models/frozen-lm/port.ts'

const FOLDER = '/pkg/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/'
const missing = (name: string): string => `${name}: cannot open shared object file: No such file or directory`
const NAMES = [...PROBED_LIBRARIES, ...CUDA_PROVIDERS.map((name) => FOLDER + name)]

/** A machine on which everything is installed, but for the libraries named. */
function machine(without: readonly string[] = [], more: Partial<MachineFacts> = {}): MachineFacts {
  return {
    platform: 'linux-x64',
    runtimeVersion: '1.30.0',
    runtimeFolder: FOLDER,
    backends: ['cpu', 'webgpu', 'cuda', 'tensorrt'],
    libraries: Object.fromEntries(NAMES.map((name) => [name, without.includes(name) ? missing(name) : null])),
    nvidiaGpus: ['NVIDIA H200, 550.54, 143771 MiB'],
    cpuCount: 2,
    ...more,
  }
}

const PASSED: DeviceTrial = { ok: true, worst: 6e-7, tolerance: 1e-4 }

/** Reports by device, and which devices were tried with a session. */
async function reportsOf(facts: MachineFacts, trial: DeviceTrial = PASSED) {
  const tried: Device[] = []
  const reports = await listDevices({
    facts: () => Promise.resolve(facts),
    tryDevice(device) {
      tried.push(device)
      return Promise.resolve(trial)
    },
  })
  return { tried, of: (device: Device) => reports.find((report) => report.device === device) }
}

describe('the report on devices', () => {
  it('calls all of them usable where nothing is missing and the self-check passes', async () => {
    const { of, tried } = await reportsOf(machine())
    expect(tried).toEqual(['cuda', 'webgpu'])
    expect([of('cpu')?.usable, of('cuda')?.usable, of('webgpu')?.usable]).toEqual([true, true, true])
    expect(of('cuda')?.summary).toBe('NVIDIA H200, 550.54, 143771 MiB; self-check: 6.0e-7 from the CPU, limit 1e-4')
  })

  it.each([
    ['libcuda.so.1', /NVIDIA driver/, /--gpus all/],
    [
      `${FOLDER}libonnxruntime_providers_cuda.so`,
      /CUDA provider/,
      /^ONNXRUNTIME_NODE_INSTALL=true node \/pkg\/.*install\.js/,
    ],
    ['libcublasLt.so.12', /CUDA 12/, /Dockerfile\.cuda/],
    ['libcudnn.so.9', /cuDNN 9/, /cuDNN 9/],
  ])('names %s, what the linker says and what to do, and makes no session', async (library, what, remedy) => {
    const { of, tried } = await reportsOf(machine([library]))
    expect(tried).toEqual(['webgpu'])
    const report = of('cuda')
    expect(report?.usable).toBe(false)
    const failed = report?.checks.filter((check) => !check.ok) ?? []
    expect(failed.length).toBe(1)
    expect(failed[0]?.what).toMatch(what)
    expect(failed[0]?.remedy).toMatch(remedy)
    expect(failed[0]?.found).toContain(library.replace(FOLDER, ''))
  })

  it('names the Vulkan loader for webgpu on Linux, and does not ask for it elsewhere', async () => {
    const linux = await reportsOf(machine(['libvulkan.so.1']))
    expect(linux.of('webgpu')?.summary).toBe('missing: the Vulkan loader (libvulkan.so.1)')
    const mac = await reportsOf(machine(NAMES, { platform: 'darwin-arm64', backends: ['cpu', 'webgpu', 'coreml'] }))
    expect(mac.tried).toEqual(['webgpu'])
    expect(mac.of('webgpu')?.usable).toBe(true)
    expect(mac.of('cuda')?.checks[0]).toMatchObject({ ok: false, remedy: /Linux on x64/ })
  })

  it('does not call a provider missing that only lacks a library of its own', async () => {
    const path = `${FOLDER}libonnxruntime_providers_cuda.so`
    const facts = machine(['libcudnn.so.9'])
    const { of } = await reportsOf({ ...facts, libraries: { ...facts.libraries, [path]: missing('libcudnn.so.9') } })
    expect(
      of('cuda')
        ?.checks.filter((check) => !check.ok)
        .map((check) => check.what),
    ).toEqual(['cuDNN 9 (libcudnn.so.9)'])
  })

  it('lets the session decide where there is no nvidia-smi, and says so where it lists no GPU', async () => {
    expect((await reportsOf(machine([], { nvidiaGpus: null }))).of('cuda')?.usable).toBe(true)
    const none = await reportsOf(machine([], { nvidiaGpus: [] }))
    expect(none.of('cuda')?.summary).toBe('missing: an NVIDIA GPU')
  })

  it.each([
    [{ ok: false, code: 'device-self-check-failed', message: 'row 40 differs' }, /--device cpu/],
    [
      { ok: false, code: 'session-failed', message: 'Failed to get a WebGPU adapter: No\n supported adapters' },
      /Vulkan driver/,
    ],
    [{ ok: false, code: 'host-crashed', message: 'signal SIGABRT' }, /another major version/],
  ] as const)('does not call a device usable whose session gave %j', async (trial, remedy) => {
    const report = (await reportsOf(machine(), trial)).of('webgpu')
    expect(report?.usable).toBe(false)
    expect(report?.checks.at(-1)).toMatchObject({ ok: false, remedy })
    expect(report?.checks.at(-1)?.found).toBe(`${trial.message.replace('\n', '')} [${trial.code}]`)
  })
})
