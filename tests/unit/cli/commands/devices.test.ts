import { describe, expect, it } from 'vitest'
import type { MachineFacts } from '../../../../models/frozen-lm/devices/device-report.ts'
import { createNodeProber, type DeviceProber } from '../../../../models/frozen-lm/devices/node-prober.ts'
import { createCommand } from '../../../../src/cli/commands/devices.ts'
import { runInProcess } from '../../../fixtures/run-in-process.ts'

const FACTS: MachineFacts = {
  platform: 'linux-x64',
  runtimeVersion: '1.30.0',
  runtimeFolder: '/runtime/',
  backends: ['cpu', 'webgpu'],
  libraries: { 'libvulkan.so.1': null, 'libcuda.so.1': 'libcuda.so.1: cannot open shared object file' },
  nvidiaGpus: null,
  cpuCount: 2,
}
const PROBER: DeviceProber = {
  facts: () => Promise.resolve(FACTS),
  tryDevice: () => Promise.resolve({ ok: true, worst: 7e-7, tolerance: 1e-4 }),
}

describe('keepready devices', () => {
  it('shows what is usable, and for the rest what is missing and what to do', async () => {
    const { out, code } = await runInProcess(createCommand(PROBER), [])
    expect(code).toBe(0)
    expect(out).toMatch(/^cpu +yes +onnxruntime 1\.30\.0, linux-x64, 2 cores$/m)
    expect(out).toMatch(/^webgpu +yes +a WebGPU adapter; self-check: 7\.0e-7 from the CPU/m)
    expect(out).toMatch(/^cuda +no +missing: the runtime was built with cuda and \d more$/m)
    expect(out).toMatch(
      /missing {2}the NVIDIA driver.*\n.*it says: libcuda\.so\.1: cannot open.*\n.*to get it: install/,
    )
  })

  it('prints one JSON document with --json', async () => {
    const { out } = await runInProcess(createCommand(PROBER), ['--json'])
    const { devices } = JSON.parse(out) as { devices: { device: string; usable: boolean }[] }
    expect(devices.map(({ device, usable }) => [device, usable])).toEqual([
      ['cpu', true],
      ['cuda', false],
      ['webgpu', true],
    ])
  })

  it('looks at the real machine without ending or hanging on it', async () => {
    const facts = await createNodeProber().facts()
    expect(facts.backends).toContain('cpu')
    // Whatever this machine has, the linker was asked about each library and answered.
    expect(Object.keys(facts.libraries)).toEqual(
      expect.arrayContaining(['libcuda.so.1', 'libvulkan.so.1', 'libcudnn.so.9']),
    )
    expect(facts.platform).toBe(`${process.platform}-${process.arch}`)
  })
})
