/** One report per device: what can be known without a session first, and a session only where nothing is missing. */
import { DEVICES } from '../execution.ts'
import { checkMachine, type DeviceReport, reportDevice } from './device-report.ts'
import type { DeviceProber } from './node-prober.ts'

export async function listDevices(prober: DeviceProber): Promise<readonly DeviceReport[]> {
  const facts = await prober.facts()
  const reports: DeviceReport[] = []
  for (const device of DEVICES) {
    const ready = device !== 'cpu' && checkMachine(device, facts).every((check) => check.ok)
    reports.push(reportDevice(device, facts, ready ? await prober.tryDevice(device) : null))
  }
  return reports
}
