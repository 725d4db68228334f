/** Entry of the child process of bench-peak-memory.ts: prints the peak and the loaded size, in bytes. */
import { type PeakMemoryRequest, runForPeakMemory } from './bench-peak-memory.ts'

const request = JSON.parse(process.argv[2] ?? '') as PeakMemoryRequest
const { peakBytes, loadedBytes } = await runForPeakMemory(request)
process.stdout.write(`${peakBytes} ${loadedBytes}\n`)
