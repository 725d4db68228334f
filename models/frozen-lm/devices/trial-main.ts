/** Entry of the child process that tries a device; started by node-prober.ts, prints one JSON line. */
import { DEVICES } from '../execution.ts'
import { trySelfCheck } from './trial.ts'

const device = DEVICES.find((name) => name === process.argv[2]) ?? 'cpu'
process.stdout.write(`${JSON.stringify(await trySelfCheck(device))}\n`, () => process.exit(0))
