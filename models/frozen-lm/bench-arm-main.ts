/** Entry of the process of one arm: opens the arm it is told to and runs it whenever asked (bench-protocol.ts). */
import { type Arm, openArm } from './bench-arms.ts'
import { resetPeak } from './bench-memory.ts'
import type { ArmReply, ArmRequest, OwnArmSpec } from './bench-protocol.ts'
import { readClock, since } from './bench-schedule.ts'

let arm: Arm | null = null

async function answer(request: ArmRequest): Promise<ArmReply> {
  if (request.kind === 'open') {
    const start = readClock()
    arm = await openArm(request.spec as OwnArmSpec)
    const loadMs = since(start).wallMs
    const loadedBytes = process.memoryUsage.rss()
    // What loading needed for a moment is not what runs need.
    resetPeak()
    await arm.warmUp()
    return { kind: 'opened', loadedBytes, stateBytes: arm.stateBytes, loadMs, version: 'keepready' }
  }
  if (arm === null) return { kind: 'failed', message: 'a run was asked for before the arm was open' }
  const start = readClock()
  const { tokens, hidden, parts } = await arm.run()
  return { kind: 'ran', cost: since(start), tokens, hidden, parts }
}

process.on('message', (request: ArmRequest) => {
  if (request.kind === 'close') process.exit(0)
  answer(request)
    .catch(
      (error: unknown): ArmReply => ({
        kind: 'failed',
        message: error instanceof Error ? error.message : String(error),
      }),
    )
    .then((reply) => process.send?.(reply))
    .catch(() => process.exit(1))
})
process.on('disconnect', () => process.exit(0))
