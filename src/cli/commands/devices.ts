/** keepready devices: what this machine can run a model on, and what is missing for the rest. */
import { Command } from 'commander'
import type { DeviceReport } from '../../../models/frozen-lm/devices/device-report.ts'
import { listDevices } from '../../../models/frozen-lm/devices/list-devices.ts'
import { createNodeProber, type DeviceProber } from '../../../models/frozen-lm/devices/node-prober.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'

/** @param prober tests give their own machine */
export function createCommand(prober: DeviceProber = createNodeProber()): Command {
  const command = new Command('devices')
    .summary('what this machine can run a model on')
    .description(
      'For each value of --device: whether it is usable, and if not which library or driver is missing and how to get\n' +
        'it. A device other than the CPU counts as usable only once a small model gives the same hidden states on it.',
    )
    .addHelpText('after', '\nExample:\n  $ keepready devices\n  $ keepready devices --json | jq ".devices[].usable"')
  return withAction(command, async () => {
    const devices = await listDevices(prober)
    return { data: { devices }, text: renderDevices(devices) }
  })
}

function renderDevices(devices: readonly DeviceReport[]): string {
  const table = createResultTable(['device', 'usable', ''])
  table.push(...devices.map(({ device, usable, summary }) => [device, usable ? 'yes' : 'no', summary]))
  return [table.toString(), ...devices.filter(({ usable }) => !usable).map(renderChecks)].join('\n\n')
}

function renderChecks({ device, checks }: DeviceReport): string {
  const lines = checks.flatMap(({ what, ok, found, remedy }) =>
    ok
      ? [`  ok       ${what}`]
      : [`  missing  ${what}`, `           it says: ${found}`, `           to get it: ${remedy}`],
  )
  return [`${device} is not usable:`, ...lines].join('\n')
}
