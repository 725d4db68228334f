import { checkMachine } from '../../models/frozen-lm/devices/device-report.ts'
import { createNodeProber, type DeviceProber } from '../../models/frozen-lm/devices/node-prober.ts'

/** What the CUDA provider of onnxruntime lacks on this machine; null if nothing that can be known without a session. */
export async function missingForCuda(
  prober: Pick<DeviceProber, 'facts'> = createNodeProber(),
): Promise<{ readonly what: string; readonly remedy: string } | null> {
  const failed = checkMachine('cuda', await prober.facts()).find((check) => !check.ok)
  return failed === undefined ? null : { what: failed.what, remedy: `${failed.found}; ${failed.remedy ?? ''}` }
}
